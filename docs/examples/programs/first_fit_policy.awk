# First fit for reconfiguration, in awk: schedgap asks at each plan, by a line of JSON, and a line answers.
#
#     schedgap gap jobs.json --policy 'first-fit=awk -f first_fit_policy.awk'
#
# A task without a machine goes to the first one with room, else to a new one of the cheapest type that fits it. Lists of
# lists are read one after the other: demand (F, C, R) has C = length of reservation_type, capacity (K, R) the K of type2family.

BEGIN {
    if (!hear()) exit
    print "{\"schema\":\"schedgap/policy/1\",\"observations\":\"changes\",\"fields\":[\"market\",\"demand\"," \
          "\"reservation_type\",\"task_class\",\"task_machine\",\"machine_type\"]}"
    fflush()
    while (hear() && match(line, /^[{]"decision":[0-9]+/)) {
        decision = substr(line, 13, RLENGTH - 12)
        update("capacity", capacity)
        update("type2family", family)
        update("demand", demand)
        update("reservation_type", reservation)
        update("task_class", class)
        update("task_machine", told)
        update("machine_type", type)
        old = size["machine_type"]
        plan()
        printf "{\"decision\":%s,\"actions\":{\"machine\":[", decision
        for (t = 1; t <= size["task_class"]; t++) printf (t == 1 ? "%d" : ",%d"), machine[t]
        printf "],\"new_types\":["
        for (m = old + 1; m <= machines; m++) printf (m == old + 1 ? "%d" : ",%d"), type[m]
        print "]}}"
        fflush()
    }
}

# Read one line, and no more: an awk may wait for more input than a line, and would wait for ever.
function hear(    got) {
    got = ("head -n 1" | getline line) > 0
    close("head -n 1")
    return got
}

# Replace numbers by those of a list in the line; where it has none, they are as they were told last.
function update(name, numbers,    at, rest, depth) {
    at = index(line, "\"" name "\":[")
    if (at == 0) return
    rest = substr(line, at + length(name) + 3)
    match(rest, /^\[+/)
    depth = RLENGTH
    rest = substr(rest, 1, index(rest, substr("]]]", 1, depth)) - 1)
    gsub(/[][]/, "", rest)
    size[name] = split(rest, numbers, ",")
}

function plan(    t, m, r) {
    resources = size["capacity"] / size["type2family"]
    machines = 0
    for (m = 1; m <= size["machine_type"]; m++) rent(type[m])
    for (t = 1; t <= size["task_class"]; t++) if (told[t] >= 0) put(t, told[t] + 1)
    for (t = 1; t <= size["task_class"]; t++) {
        if (told[t] >= 0) continue
        for (m = 1; m <= machines && !fits(t, m); m++);
        if (m > machines) rent(reservation[class[t] + 1])
        put(t, m)
    }
}

function rent(k,    r) {
    type[++machines] = k
    for (r = 1; r <= resources; r++) free[machines, r] = capacity[k * resources + r]
}

# Return what a task needs on a machine, of resource r; -1 where it may not run.
function needs(t, m, r) {
    return demand[(family[type[m] + 1] * size["reservation_type"] + class[t]) * resources + r]
}

function fits(t, m,    r) {
    for (r = 1; r <= resources; r++) if (needs(t, m, r) < 0 || needs(t, m, r) > free[m, r]) return 0
    return 1
}

function put(t, m,    r) {
    for (r = 1; r <= resources; r++) free[m, r] -= needs(t, m, r)
    machine[t] = m - 1
}
