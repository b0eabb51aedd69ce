# First fit for provisioning, in awk: an instance on stdin, a solution on stdout.
#
#     schedgap gap instance.json --program 'first-fit=awk -f first_fit_method.awk'
#
# Amounts are compared as whole numbers, as schedgap does: MiB of resources called *_gib or *_mib, else thousandths.

# A record ends at each comma, so that none is long. A string with a comma in it goes on in the next record.
BEGIN { RS = "," }
{
    if (inside) rest = rest "," $0
    else {
        rest = $0
        if (is_object[depth]) has_key[depth] = 0
        else if (NR > 1) key[depth]++
    }
    read_tokens()
}
END { solve() }

# Fill value[keys, and numbers from 0, that lead to it], strings without quotes and with their escapes as they are.
function read_tokens(    token) {
    inside = 0
    while (match(rest, /[^ \t\r\n:]/)) {
        rest = substr(rest, RSTART)
        token = substr(rest, 1, 1)
        if (token == "{" || token == "[") {
            is_object[++depth] = token == "{"
            has_key[depth] = key[depth] = 0
        } else if (token == "}" || token == "]") {
            depth--
        } else if (match(rest, /^"([^"\\]|\\.)*"/)) {
            token = substr(rest, 1, RLENGTH)
            keep(substr(token, 2, RLENGTH - 2))
        } else if (token == "\"") {
            inside = 1
            return
        } else {
            match(rest, /^[^] \t\r\n}]+/)
            token = substr(rest, 1, RLENGTH)
            keep(token)
        }
        rest = substr(rest, length(token) + 1)
    }
}

function keep(text,    place, d) {
    if (is_object[depth] && !has_key[depth]) {
        key[depth] = text
        has_key[depth] = 1
        return
    }
    place = key[1]
    for (d = 2; d <= depth; d++) place = place SUBSEP key[d]
    value[place] = text
}

function solve(    r, k, c, m, left) {
    machines = 0
    for (resources = 0; ("resources", resources) in value; resources++)
        scale[resources] = value["resources", resources] ~ /_gib$/ ? 1024 : value["resources", resources] ~ /_mib$/ ? 1 : 1000
    for (types = 0; ("machine_types", types, "name") in value; types++)
        for (r = 0; r < resources; r++) capacity[types, r] = whole(value["machine_types", types, "capacity", r], r)
    for (c = 0; ("tasks", c, "name") in value; c++) {
        cheapest = -1
        for (k = 0; k < types; k++) {
            read_needs(c, k)
            for (r = 0; r < resources && needs[k, r] >= 0 && needs[k, r] <= capacity[k, r]; r++);
            if (r == resources && (cheapest < 0 || price(k) < price(cheapest))) cheapest = k
        }
        # Where one task of a class has no room, the next has none: m never goes back.
        left = ("tasks", c, "count") in value ? value["tasks", c, "count"] : 1
        for (m = 0; left > 0; m++) {
            if (m == machines) rent(cheapest)
            left -= fill(m, left, value["tasks", c, "name"])
        }
    }
    printf "{\"schema\":\"schedgap/provisioning-solution/1\",\"machines\":["
    for (m = 0; m < machines; m++)
        printf "%s{\"type\":\"%s\",\"counts\":{%s}}", (m ? ",\n" : ""), value["machine_types", type[m], "name"], content[m]
    print "]}"
}

# What a task of class c needs on machine type k; -1 where it may not run.
function read_needs(c, k,    r, family) {
    family = value["machine_types", k, "family"]
    if (!(("tasks", c, "demand", family, 0) in value)) family = "any"
    for (r = 0; r < resources; r++)
        needs[k, r] = ("tasks", c, "demand", family, r) in value ? whole(value["tasks", c, "demand", family, r], r) : -1
}

function whole(amount, r) { return int(amount * scale[r] + 0.5) }

function price(k) { return value["machine_types", k, "price"] + 0 }

function rent(k,    r) {
    type[machines] = k
    for (r = 0; r < resources; r++) free[machines, r] = capacity[k, r]
    machines++
}

# Put as many tasks as have room, but at most so many, on a machine, and return how many.
function fill(m, most, name,    number, r) {
    for (number = 0; number < most; number++) {
        for (r = 0; r < resources; r++) if (needs[type[m], r] < 0 || needs[type[m], r] > free[m, r]) break
        if (r < resources) break
        for (r = 0; r < resources; r++) free[m, r] -= needs[type[m], r]
    }
    if (number) content[m] = content[m] (content[m] == "" ? "" : ",") "\"" name "\":" number
    return number
}
