"""Does what attacks of a plug-in try, with nothing around them: `unconfined.py PLUGIN PRECIOUS TABLE`, prints a JSON object.

For each try, "got" or the name of the error; TABLE is the name of the plug-in's table of attacks, PRECIOUS the content of the
file beside it that is made anew before each. A process in between is the one that the attack takes for its server.
"""

import ctypes
import errno
import importlib.util
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

# Mounts, and memory that is in no process, go with this process.
OWN_NAMESPACES, BELOW_AND_PRIVATE = 0x00020000 | 0x08000000, 0x4000 | 1 << 18


def outcome(each):
    """What one try comes to, told by the process that does it."""
    told, tells = os.pipe()
    server = os.fork()
    if server == 0:
        if os.fork() == 0:
            try:
                each()
                said = "got"
            except OSError as error:
                said = errno.errorcode.get(error.errno, str(error))
            os.write(tells, said.encode())
            os._exit(0)
        os.close(tells)
        signal.pause()
        os._exit(0)
    os.close(tells)
    said = os.read(told, 1000).decode()
    os.close(told)
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    return said


def main(plugin, content, table):
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(OWN_NAMESPACES) or library.mount(None, b"/", None, ctypes.c_ulong(BELOW_AND_PRIVATE), None):
        raise OSError(ctypes.get_errno(), "no namespaces of its own")
    spec = importlib.util.spec_from_file_location("attacks", plugin)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = {}
    for attack, tries in getattr(module, table).items():
        for name, each in dict(tries).items():
            with suppress(FileNotFoundError):
                module.PRECIOUS.unlink()
            module.PRECIOUS.write_text(content)
            found[f"{attack}/{name}"] = outcome(each)
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
