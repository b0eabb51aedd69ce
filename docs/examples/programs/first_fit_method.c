/* First fit for provisioning, in C with libc alone: an instance on stdin, a solution on stdout.

       cc -O2 -o first-fit-method first_fit_method.c
       schedgap gap instance.json --program 'first-fit=./first-fit-method'

   Amounts are compared as whole numbers, as schedgap does: MiB of resources called *_gib or *_mib, else thousandths. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what)
{
    fprintf(stderr, "first-fit: %s\n", what);
    exit(1);
}

static void *resized(void *block, size_t count, size_t size)
{
    block = realloc(block, (count + 1) * size);
    if (block == NULL)
        fail("out of memory");
    return block;
}

/* A value of a JSON text, which it points into. kind : one of { [ " or 0 for all others. text, length : of a string without
   its quotes, and with its escapes as they are; of a number its digits. key, key_length : of a member of an object. */
struct value {
    char kind;
    const char *text, *key;
    size_t length, key_length;
    struct value *first, *next;
};

static const char *at;       /* what is read next */
static struct value *unused; /* what the next value is put into */

static char skipped(void)
{
    at += strspn(at, " \t\r\n");
    return *at;
}

/* Go behind a string, and return where it began. */
static const char *string(size_t *length)
{
    const char *text = ++at;
    while (*at != '"' && *at != '\0')
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    *length = at - text;
    if (*at++ == '\0')
        fail("a string has no end");
    return text;
}

static struct value *read_value(void);

/* Read what is between the brackets of an object or a list. */
static void read_members(struct value *value)
{
    struct value **last = &value->first;
    for (++at; skipped() != '}' && *at != ']'; last = &(*last)->next) {
        const char *key = NULL;
        size_t length = 0;
        if (*at == ',') {
            ++at;
            skipped();
        }
        if (value->kind == '{') {
            if (*at != '"')
                fail("a key is missing");
            key = string(&length);
            if (skipped() != ':')
                fail("a key has no value");
            ++at;
        }
        if (skipped() == '\0')
            fail("the JSON has no end");
        *last = read_value();
        (*last)->key = key;
        (*last)->key_length = length;
    }
    ++at;
}

static struct value *read_value(void)
{
    struct value *value = unused++;
    memset(value, 0, sizeof *value);
    value->kind = skipped();
    if (value->kind == '"') {
        value->text = string(&value->length);
    } else if (value->kind == '{' || value->kind == '[') {
        read_members(value);
    } else {
        value->kind = 0;
        value->text = at;
        at += value->length = strcspn(at, ",]} \t\r\n");
    }
    return value;
}

static const struct value *member_of(const struct value *object, const char *key, size_t length)
{
    const struct value *value = object->first;
    while (value != NULL && (value->key_length != length || memcmp(value->key, key, length) != 0))
        value = value->next;
    return value;
}

static const struct value *member(const struct value *object, const char *key)
{
    return member_of(object, key, strlen(key));
}

static const struct value *needed(const struct value *object, const char *key)
{
    const struct value *value = member(object, key);
    if (value == NULL) {
        fprintf(stderr, "first-fit: there is no '%s'\n", key);
        exit(1);
    }
    return value;
}

/* R : resources. A machine type; amounts are (R,) whole numbers. */
static size_t R;

struct type {
    const struct value *name, *family;
    long long *capacity;
    double price;
};

/* A machine: its type, what is free, and what it holds as JSON. */
struct machine {
    const struct type *type;
    long long *free;
    char *content;
    size_t length;
};

static int ends_in(const struct value *name, const char *end)
{
    size_t length = strlen(end);
    return name->length >= length && memcmp(name->text + name->length - length, end, length) == 0;
}

static long long *amounts(const struct value *list, const struct value *resources)
{
    long long *whole = resized(NULL, R, sizeof *whole);
    const struct value *name = resources->first, *each = list->first;
    for (size_t r = 0; r < R; ++r, name = name->next, each = each->next) {
        if (each == NULL)
            fail("an amount is missing");
        whole[r] = strtod(each->text, NULL) * (ends_in(name, "_gib") ? 1024 : ends_in(name, "_mib") ? 1 : 1000) + 0.5;
    }
    return whole;
}

/* Return whether a task has room; where a class may not run, it has no needs. */
static int fits(const long long *needs, const long long *free)
{
    for (size_t r = 0; needs != NULL && r < R; ++r)
        if (needs[r] > free[r])
            return 0;
    return needs != NULL;
}

static void put(struct machine *machine, const struct value *name, const long long *needs, long long count)
{
    size_t more = name->length + 32;
    for (size_t r = 0; r < R; ++r)
        machine->free[r] -= count * needs[r];
    machine->content = resized(machine->content, machine->length + more, 1);
    machine->length += sprintf(machine->content + machine->length, "%s\"%.*s\":%lld", machine->length ? "," : "",
                               (int)name->length, name->text, count);
}

/* How many tasks, but at most so many, have room. */
static long long most(const long long *needs, const long long *free, long long count)
{
    if (!fits(needs, free))
        return 0;
    for (size_t r = 0; r < R; ++r)
        if (needs[r] > 0 && free[r] / needs[r] < count)
            count = free[r] / needs[r];
    return count;
}

static char *everything(FILE *file)
{
    char *text = NULL;
    size_t length = 0, got = 1;
    for (; got > 0; length += got) {
        text = resized(text, length + 65536, 1);
        got = fread(text + length, 1, 65536, file);
    }
    text[length] = '\0';
    return text;
}

int main(void)
{
    char *text = everything(stdin);
    at = text;
    /* A value has two characters or more, with the one behind it. */
    unused = resized(NULL, strlen(text) / 2 + 1, sizeof *unused);
    const struct value *instance = read_value(), *resources = needed(instance, "resources"), *each;
    struct type *types = NULL;
    struct machine *machines = NULL;
    size_t num_types = 0, num_machines = 0;
    for (each = resources->first; each != NULL; each = each->next)
        ++R;
    for (each = needed(instance, "machine_types")->first; each != NULL; each = each->next) {
        types = resized(types, num_types + 1, sizeof *types);
        types[num_types++] = (struct type){needed(each, "name"), needed(each, "family"),
                                           amounts(needed(each, "capacity"), resources),
                                           strtod(needed(each, "price")->text, NULL)};
    }
    long long **needs = resized(NULL, num_types, sizeof *needs);
    for (each = needed(instance, "tasks")->first; each != NULL; each = each->next) {
        const struct value *demand = needed(each, "demand"), *count = member(each, "count"), *list;
        size_t cheapest = num_types;
        for (size_t k = 0; k < num_types; ++k) {
            list = member_of(demand, types[k].family->text, types[k].family->length);
            if (list == NULL)
                list = member(demand, "any");
            needs[k] = list == NULL ? NULL : amounts(list, resources);
            if (fits(needs[k], types[k].capacity) && (cheapest == num_types || types[k].price < types[cheapest].price))
                cheapest = k;
        }
        if (cheapest == num_types)
            fail("a task fits no machine type");
        /* Where one task of a class has no room, the next has none: m never goes back. */
        long long left = count == NULL ? 1 : strtoll(count->text, NULL, 10);
        for (size_t m = 0; left > 0; ++m) {
            if (m == num_machines) {
                machines = resized(machines, ++num_machines, sizeof *machines);
                machines[m] = (struct machine){types + cheapest, resized(NULL, R, sizeof(long long)), NULL, 0};
                memcpy(machines[m].free, types[cheapest].capacity, R * sizeof(long long));
            }
            const long long *wanted = needs[machines[m].type - types];
            long long number = most(wanted, machines[m].free, left);
            if (number > 0)
                put(machines + m, needed(each, "name"), wanted, number);
            left -= number;
        }
    }
    printf("{\"schema\":\"schedgap/provisioning-solution/1\",\"machines\":[");
    for (size_t m = 0; m < num_machines; ++m)
        printf("%s\n{\"type\":\"%.*s\",\"counts\":{%s}}", m ? "," : "", (int)machines[m].type->name->length,
               machines[m].type->name->text, machines[m].content);
    printf("]}\n");
    return 0;
}
