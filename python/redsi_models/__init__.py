"""redsi's second program, which computes models, and its launcher: it finds the torch that is
installed beside it, without importing it, and starts the program on torch's libraries."""

import os
import sys
from importlib.metadata import PackageNotFoundError, distribution

# The program for each torch. What is compiled for one runs on the next, where libtorch's classes are the same; all four
# were tried (docs/toolchain.md, "Which torch").
PROGRAMS = {"2.11": "redsi-models", "2.12": "redsi-models", "2.14": "redsi-models-2.14.0", "2.15": "redsi-models-2.14.0"}
# What the program calls in libc10, as a libtorch with the C++11 ABI names it.
ABI = b"torchCheckFailEPKcS2_jRKNSt7__cxx11"


class Refused(Exception):
    """The program cannot run here: what is wrong where, and what to do."""


def main():
    """Replaces this process by the program; exit code 2, and one line on stderr, if it cannot run."""
    try:
        program, env = prepare(os.path.dirname(os.path.abspath(__file__)), dict(os.environ))
        os.execve(program, [program] + sys.argv[1:], env)
    except (Refused, OSError) as e:
        print(f"redsi-models: {e}", file=sys.stderr)
        return 2


def prepare(package, env):
    """The program in a package's folder, and the environment that it runs in."""
    try:
        glibc = os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):
        glibc = None
    if not glibc:
        raise Refused(f"it needs glibc, and this Python ({sys.executable}) runs on another C library, such as musl: "
                      "use an image or a machine with glibc (Debian, Ubuntu, Fedora, Rocky); redsi itself runs here")
    folder = os.path.join(package, "bin")
    program, lib = find_libtorch()
    env.setdefault("REDSI_CUDA_GRAPHS", folder)
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [lib, env.get("LD_LIBRARY_PATH")]))
    return os.path.join(folder, program), env


def find_libtorch():
    """The program for this Python's torch, and the folder with its libraries."""
    again = f"run {sys.executable} -m pip install 'torch=={list(PROGRAMS)[-1]}.*'"
    try:
        torch = distribution("torch")
    except PackageNotFoundError:
        raise Refused(f"this Python ({sys.executable}) has no torch: {again}")
    place = torch.locate_file("torch")
    # 2.11.0, 2.11.0+cpu and 2.11.0+cu130 have the same functions.
    program = PROGRAMS.get(".".join(torch.version.split(".")[:2]))
    if not program:
        raise Refused(f"torch in {place} is {torch.version}, and redsi-models is for {', '.join(PROGRAMS)}: {again}")
    lib = os.path.join(place, "lib")
    try:
        with open(os.path.join(lib, "libc10.so"), "rb") as f:
            abi = ABI in f.read()
    except OSError as e:
        raise Refused(f"torch in {place} is not whole ({e}): {again}")
    if not abi:
        raise Refused(f"torch in {place} was built without the C++11 ABI, which redsi-models needs: {again}")
    return program, lib
