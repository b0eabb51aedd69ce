/* First fit for reconfiguration, in C with libc alone: schedgap asks at each plan, by a line, and a line answers.

       cc -O2 -o first-fit-policy first_fit_policy.c
       schedgap gap jobs.json --policy 'first-fit=./first-fit-policy'

   A task without a machine goes to the first one with room, else to a new one of the cheapest type that fits it; all
   others stay. All amounts are whole numbers. */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char GREETING[] = "{\"schema\":\"schedgap/policy/1\",\"observations\":\"changes\",\"fields\":[\"market\",\"demand\","
                               "\"reservation_type\",\"task_class\",\"task_machine\",\"machine_type\"]}";

struct numbers {
    long long *at;
    size_t count, room;
};

static void append(struct numbers *numbers, long long number)
{
    if (numbers->count == numbers->room) {
        numbers->room = 2 * numbers->room + 64;
        numbers->at = realloc(numbers->at, numbers->room * sizeof *numbers->at);
        if (numbers->at == NULL)
            exit(1);
    }
    numbers->at[numbers->count++] = number;
}

/* Replace numbers by those of a list in a line, of lists of lists one after the other. name : as in `"task_class":`. Where
   the line has none, they are as they were told last. */
static void update(struct numbers *numbers, const char *line, const char *name)
{
    const char *at = strstr(line, name);
    int depth = 0;
    if (at == NULL)
        return;
    numbers->count = 0;
    at += strlen(name);
    do {
        if (*at == '[') {
            ++depth, ++at;
        } else if (*at == ']') {
            --depth, ++at;
        } else if (*at == ',') {
            ++at;
        } else {
            char *end;
            append(numbers, strtoll(at, &end, 10));
            if (end == at)
                exit(1);
            at = end;
        }
    } while (depth > 0);
}

/* What is told, by its names: K machine types, F families, C classes, R resources, T tasks, M machines. */
static struct numbers capacity;         /* (K, R) */
static struct numbers type2family;      /* (K,) */
static struct numbers demand;           /* (F, C, R), -1 where a class may not run on a family */
static struct numbers reservation_type; /* (C,) */
static struct numbers task_class;       /* (T,) */
static struct numbers task_machine;     /* (T,), -1 for none */
static struct numbers machine_type;     /* (M,) */
/* What is answered: a machine of each task, and the types of all machines, those that are there first. */
static struct numbers machine, types;
static struct numbers room; /* of all machines, R numbers each */

static size_t num_resources(void)
{
    return capacity.count / type2family.count;
}

static const long long *needs(size_t task, size_t m)
{
    long long row = type2family.at[types.at[m]] * (long long)reservation_type.count + task_class.at[task];
    return demand.at + row * num_resources();
}

static int fits(size_t task, size_t m)
{
    const long long *wanted = needs(task, m), *free = room.at + m * num_resources();
    for (size_t r = 0; r < num_resources(); ++r)
        if (wanted[r] < 0 || wanted[r] > free[r])
            return 0;
    return 1;
}

static void put(size_t task, size_t m)
{
    const long long *wanted = needs(task, m);
    for (size_t r = 0; r < num_resources(); ++r)
        room.at[m * num_resources() + r] -= wanted[r];
    machine.at[task] = m;
}

static void rent(long long type)
{
    append(&types, type);
    for (size_t r = 0; r < num_resources(); ++r)
        append(&room, capacity.at[type * num_resources() + r]);
}

static void plan(void)
{
    machine.count = types.count = room.count = 0;
    for (size_t m = 0; m < machine_type.count; ++m)
        rent(machine_type.at[m]);
    for (size_t t = 0; t < task_class.count; ++t) {
        append(&machine, task_machine.at[t]);
        if (task_machine.at[t] >= 0)
            put(t, task_machine.at[t]);
    }
    for (size_t t = 0, m; t < task_class.count; ++t) {
        if (task_machine.at[t] >= 0)
            continue;
        for (m = 0; m < types.count && !fits(t, m); ++m)
            ;
        if (m == types.count)
            rent(reservation_type.at[task_class.at[t]]);
        put(t, m);
    }
}

static void print_list(const char *name, const long long *at, size_t count)
{
    printf("\"%s\":[", name);
    for (size_t i = 0; i < count; ++i)
        printf(i ? ",%lld" : "%lld", at[i]);
    printf("]");
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    long long decision;
    if (getline(&line, &size, stdin) < 0)
        return 0;
    puts(GREETING);
    fflush(stdout);
    while (getline(&line, &size, stdin) >= 0 && sscanf(line, "{\"decision\":%lld", &decision) == 1) {
        update(&capacity, line, "\"capacity\":");
        update(&type2family, line, "\"type2family\":");
        update(&demand, line, "\"demand\":");
        update(&reservation_type, line, "\"reservation_type\":");
        update(&task_class, line, "\"task_class\":");
        update(&task_machine, line, "\"task_machine\":");
        update(&machine_type, line, "\"machine_type\":");
        plan();
        printf("{\"decision\":%lld,\"actions\":{", decision);
        print_list("machine", machine.at, machine.count);
        printf(",");
        print_list("new_types", types.at + machine_type.count, types.count - machine_type.count);
        printf("}}\n");
        fflush(stdout);
    }
    return 0;
}
