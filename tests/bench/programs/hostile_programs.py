"""Programs that do what none should, each with what its run must end as: text of a shell, status, and a part of the reason.

`$OK` is the path of a right answer, `$MARK` a word by which processes are found that outlive their run, `$OUT` the folder of
the journal.
"""

# A machine type and a task of the instance go where @TYPE and @TASK stand, and this interpreter where @PYTHON does.
MACHINE = '{"type":"@TYPE","tasks":["@TASK"]}'


def machines(text):
    """Print a solution with these machines."""
    return f"""echo '{{"schema":"schedgap/provisioning-solution/1","machines":[{text}]}}'"""


def enveloped(text):
    """Print a right solution in an object that says more."""
    return f"""printf '%s' '{{"schema":"schedgap/answer/1",{text},"solution":'; cat $OK; echo '}}'"""


METHODS = {
    "m-honest": ("cat $OK", "feasible", None),
    "m-silent": ("sleep 60", "timeout", "killed after 2 s of wall-clock time"),
    "m-ignores-term": ("trap '' TERM; while :; do sleep 1; done", "timeout", "killed after 2 s of wall-clock time"),
    "m-late": ("sleep 60; cat $OK", "timeout", "killed after 2 s of wall-clock time"),
    "m-after-its-limit": ("sleep 1.2; cat $OK", "feasible", None),
    "m-half": ("head -c 40 $OK", "invalid", "its answer is no solution: Input data was truncated"),
    "m-half-and-silence": ("head -c 40 $OK; sleep 60", "timeout", "killed after 2 s of wall-clock time"),
    "m-nothing": (":", "invalid", "its answer is no solution: it is empty"),
    "m-exits-3": ("cat $OK; exit 3", "crashed", "the program exited with code 3"),
    "m-signal": ("kill -SEGV $$", "crashed", "the program was ended by SIGSEGV"),
    "m-kills-parent": ("kill -9 $PPID; sleep 60", "crashed", "its process was ended by SIGKILL"),
    "m-endless": ("cat /dev/zero", "invalid", "up to 18.75 MiB are read, a sixteenth of the memory limit"),
    "m-gigabyte": ("truncate -s 1G $2", "invalid", "it has 1024 MiB or more; up to 18.75 MiB are read"),
    "m-prose": ("echo All tasks placed.", "invalid", "what it printed begins with 'All tasks placed.'; print "),
    "m-nested": ("head -c 9000000 /dev/zero | tr '\\0' '['", "invalid", "its answer is no solution: "),
    "m-nested-solution": (
        "printf '%s' '{\"machines\":'; head -c 9000000 /dev/zero | tr '\\0' '['",
        "invalid",
        "its answer is no solution: ",
    ),
    "m-wrong-form": ("echo '{\"machines\": 3}'", "invalid", "its answer is no solution: schema: field required"),
    "m-other-schema": ("sed s/provisioning/waiting/ $OK", "invalid", "its answer is no solution: schema: "),
    "m-not-a-number": (machines('{"type":"@TYPE","counts":{"@TASK":NaN}}'), "invalid", "JSON is malformed"),
    "m-infinity": (machines('{"type":"@TYPE","counts":{"@TASK":-Infinity}}'), "invalid", "JSON is malformed"),
    "m-huge-number": (
        machines('{"type":"@TYPE","counts":{"@TASK":1%s}}' % ("0" * 400)),
        "invalid",
        "machines.0",
    ),
    "m-many-machines": (machines('{"type":"@TYPE","counts":{},"repeat":1000000000000}'), "invalid", None),
    "m-other-task": (machines('{"type":"@TYPE","tasks":["tau-99"]}'), "invalid", "holds task 'tau-99', which the inst"),
    "m-other-type": (machines('{"type":"x9.huge","tasks":["@TASK"]}'), "invalid", "machines.0 has type 'x9.huge'; the"),
    "m-twice": (machines(f"{MACHINE},{MACHINE}"), "invalid", "is on machines 0 and 1; place it once"),
    "m-left-out": (machines(MACHINE), "invalid", "is on no machine; place every task"),
    "m-other-instance": (
        f"""sed 's/"instance": *"[0-9a-f]*"/"instance":"{"0" * 64}"/' $OK""",
        "invalid",
        "its answer is no solution: solves instance 000000000000...",
    ),
    "m-liar": (enveloped('"bound":1e9'), "invalid", "its bound 1000000000000000 is above the objective"),
    "m-bound-nan": (enveloped('"bound":"NaN"'), "invalid", 'its bound is "NaN"; give a number'),
    "m-bound-huge": (
        enveloped('"bound":1e999999999'),
        "invalid",
        "its bound is 1e+999999999; give one that an objective",
    ),
    "m-boaster": (
        enveloped('"status":"optimal","bound":0.001'),
        "feasible",
        "it claims to be optimal, its bound 1000 does not",
    ),
    "m-denies": (
        enveloped('"status":"infeasible"'),
        "invalid",
        "it claims 'infeasible' and returns a feasible solution",
    ),
    "m-own-field": (
        enveloped('"cost":3'),
        "invalid",
        "its answer is no solution: Object contains unknown field `cost`",
    ),
    "m-unsupported": (
        """echo '{"schema":"schedgap/answer/1","status":"unsupported","reason":"only on Sundays"}'""",
        "unsupported",
        "only on Sundays",
    ),
    "m-children": ("for i in 1 2 3; do sh -c 'sleep 600' $MARK & done; cat $OK", "feasible", None),
    "m-daemon": (
        "setsid sh -c 'setsid sh -c \"trap \\\"\\\" TERM HUP; while :; do sleep 1; done\" '$MARK' &' & sleep 0.3; cat $OK",
        "feasible",
        None,
    ),
    "m-without-end": (
        "while :; do sh -c 'sleep 600' $MARK & done",
        "crashed",
        "killed for starting processes without end",
    ),
    "m-closes-output": ("exec >&-; sleep 0.1", "invalid", "its answer is no solution: it is empty"),
    "m-closes-input": ("exec <&-; cat $OK", "feasible", None),
    "m-stderr": ("head -c 3000000 /dev/zero >&2; exit 1", "crashed", "the program exited with code 1"),
    "m-memory": ("head -c 600000000 /dev/zero | tail", "memory", "over 300 MiB"),
    # Java, Go and Node map many times what they use.
    "m-addresses": (
        "@PYTHON -IS -c 'import mmap; mmap.mmap(-1, 2**36, mmap.MAP_PRIVATE | 0x4020, mmap.PROT_READ)' && cat $OK",
        "feasible",
        None,
    ),
    # A page of zeros is in no memory, but each 2 MiB of it is told of by a page.
    "m-tables": (
        "@PYTHON -IS -c 'import mmap, time; m = mmap.mmap(-1, 2**38, mmap.MAP_PRIVATE | 0x4020, mmap.PROT_READ);"
        " print(sum(m[::2**21])); time.sleep(1)'; cat $OK",
        "memory",
        "over 300 MiB",
    ),
    "m-twice-over": ("cat $OK $OK", "invalid", "its answer is no solution: "),
    "m-other-letters": ("printf '\\377\\376'; cat $OK", "invalid", "its answer is no solution: "),
    "m-keys-twice": ("sed 's/^{/{\"machines\":[],/' $OK", "invalid", "'machines' is given twice in one object"),
    "m-words-for-terminals": (
        "printf '\\033]0;x\\007\\033[2J' >&2; exit 1",
        "crashed",
        "the program exited with code 1",
    ),
    "m-replaces-itself": ("exec cat $OK", "feasible", None),
    "m-hard-link": ("rm -f $2; ln $OUT/journal.jsonl $2 2> /dev/null; :", "invalid", "its answer is no solution: "),
    "m-edits-instance": ("echo '{}' > $1; cat $OK > $2", "feasible", None),
    "m-directory": ("rm -f $2; mkdir $2", "invalid", "its answer is no solution: answer.json is no file"),
    "m-pipe": ("rm -f $2; mkfifo $2", "invalid", "its answer is no solution: answer.json is no file"),
    "m-device": ("rm -f $2; ln -s /dev/zero $2", "invalid", "its answer is no solution: answer.json is no file"),
    "m-link": ("cp $OK $2.own; ln -s $2.own $2", "feasible", None),
    "m-no-file": (":", "invalid", "its answer is no solution: answer.json cannot be read (No such file or directory)"),
    "m-vandal": ("rm -rf $TMPDIR; cat $OK", "invalid", "leave the folder TMPDIR where it is"),
    "m-leaves-files": ("mkdir $TMPDIR/d; echo x > $TMPDIR/d/x; chmod 0 $TMPDIR/d; cat $OK", "feasible", None),
    "m-writes-to-parent": (
        "for f in /proc/$PPID/fd/*; do [ -p $f ] && echo rubbish-rubbish > $f; done; cat $OK",
        "invalid",
        # What it reached is the pipe of its own answer, or the one that tells how it was started.
        "rubbish-rubbish",
    ),
    "m-journal": ("ls $OUT > /dev/null; echo x > $OUT/stray; cat $OUT/*.jsonl > /dev/null; cat $OK", "feasible", None),
}
# Those that get the paths of the instance and of the solution: words of their commands.
WITH_PATHS = {
    *("m-gigabyte", "m-edits-instance", "m-directory", "m-pipe", "m-device"),
    *("m-link", "m-hard-link", "m-no-file"),
}

GREET = """read -r hello; echo '{"schema":"schedgap/policy/1","fields":["job","fitting"]}'; read -r asked"""


def answers(text):
    """Greet, and answer the first decision."""
    return f"{GREET}; echo '{text}'; read -r asked"


def greets(text):
    """Greet with something more."""
    return f"""read -r hello; echo '{{"schema":"schedgap/policy/1",{text}}}'; read -r asked"""


POLICIES = {
    "p-silent": ("sleep 60", "timeout", "killed after 4 s of wall-clock time"),
    "p-mute": (f"{GREET}; sleep 60", "timeout", "decision 1: the program did not answer within 1 s"),
    "p-half": (f"{GREET}; printf '{{\"decision\":1'", "crashed", "decision 1: the program exited with code 0"),
    "p-half-and-silence": (
        f"{GREET}; printf '{{\"decision\":1'; sleep 60",
        "timeout",
        "decision 1: the program did not end its line by a line feed within 1 s",
    ),
    "p-endless": ("read -r hello; cat /dev/zero", "invalid", "greeting: its line is longer than 18.75 MiB"),
    "p-gigabyte": (
        f"{GREET}; head -c 1000000000 /dev/zero | tr '\\0' x",
        "invalid",
        "decision 1: its line is longer than 18.75 MiB",
    ),
    "p-prose": (
        "read -r hello; echo Hello!; sleep 60",
        "invalid",
        "its greeting is not as docs/protocol.md has it: JSON is malformed",
    ),
    "p-other-protocol": (
        greets('"schema":"schedgap/policy/9"'),
        "invalid",
        "its greeting is not as docs/protocol.md has it",
    ),
    "p-own-field": (
        greets('"mood":"fine"'),
        "invalid",
        "its greeting is not as docs/protocol.md has it: Object contains",
    ),
    "p-no-such-field": (
        greets('"fields":["future"]'),
        "invalid",
        "its greeting asks for the field 'future'; fields are",
    ),
    "p-knows": (greets('"knows":["future"]'), "error", "policy p-knows knows 'future'; a policy may know durations."),
    "p-option": (greets('"options":{"speed":"11"}'), "error", "policy p-option: there is no option 'speed'"),
    "p-two-greetings": (
        "read -r hello; printf '{}\\n{}\\n'; sleep 60",
        "invalid",
        "greeting: the program wrote more than one",
    ),
    "p-twice": (
        f'{GREET}; printf \'{{"decision":1,"actions":0}}\\n{{"decision":1,"actions":0}}\\n\'; sleep 60',
        "invalid",
        "decision 1: the program wrote more than one line; answer once",
    ),
    "p-early": (
        f'{GREET}; echo \'{{"decision":1,"actions":0}}\'; sleep 0.1; echo \'{{"decision":1,"actions":0}}\'; sleep 60',
        "invalid",
        "decision 2: ",
    ),
    "p-other-decision": (answers('{"decision":2,"actions":0}'), "invalid", "decision 1: it answers decision 2"),
    "p-other-job": (
        answers('{"decision":1,"actions":999999}'),
        "error",
        "job 999999, which is not there; return one of",
    ),
    "p-name": (
        answers('{"decision":1,"actions":"job-0"}'),
        "invalid",
        "decision 1: 'actions' is not as docs/protocol.md",
    ),
    "p-not-a-number": (
        answers('{"decision":1,"actions":NaN}'),
        "invalid",
        "decision 1: its answer is not as docs/protocol.md",
    ),
    "p-huge-number": (
        answers(f'{{"decision":1,"actions":1{"0" * 400}}}'),
        "invalid",
        "decision 1: 'actions' is not as docs/protocol.md has it",
    ),
    "p-nested": (
        f"{GREET}; printf '{{\"decision\":1,\"actions\":'; head -c 9000000 /dev/zero | tr '\\0' '['; echo",
        "invalid",
        "decision 1: its answer is not as docs/protocol.md has it",
    ),
    "p-idle": (
        """read -r hello; echo '{"schema":"schedgap/policy/1","fields":[]}'; n=0
        while read -r asked; do n=$((n+1)); echo "{\\"decision\\":$n,\\"actions\\":null}"; done""",
        "error",
        "tasks that never start: the policy left the machines idle",
    ),
    "p-signal": (f"{GREET}; kill -KILL $$", "crashed", "decision 1: the program was ended by SIGKILL"),
    "p-closes-output": (f"{GREET}; exec >&-; sleep 60", "crashed", "decision 1: the program closed its output"),
    "p-closes-input": (
        f'{GREET}; exec <&-; echo \'{{"decision":1,"actions":0}}\'; sleep 60',
        "crashed",
        "decision 2: the program closed its input",
    ),
    "p-children": (
        f"{GREET}; for i in 1 2 3; do setsid sh -c 'sleep 600' $MARK & done; exit 7",
        "crashed",
        "decision 1: the program exited with code 7",
    ),
    "p-memory": ("read -r hello; head -c 600000000 /dev/zero | tail", "memory", "over 300 MiB"),
}
# Serves the first job that fits, and stays when all is over: no failure.
HONEST_POLICY = """
import json, sys
def say(said): print(json.dumps(said), flush=True)
input()
say({"schema": "schedgap/policy/1", "fields": ["job", "fitting"]})
for line in sys.stdin:
    asked = json.loads(line)
    if "end" in asked: break
    say({"decision": asked["decision"], "actions": asked["observation"]["job"][asked["observation"]["fitting"][0]]})
"""
