"""redsi's second program, which computes models, and its launcher: it finds the torch that is
installed beside it, without importing it, and starts the program on torch's libraries."""

import os
import sys
from importlib.machinery import PathFinder

TORCH = "2.11"
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
    program = os.path.join(package, "bin", "redsi-models")
    if not os.path.exists(program):
        raise Refused(f"{program} is not there: install redsi-models again (pip install --force-reinstall redsi-models)")
    torch = find_torch()
    site = os.path.dirname(torch)
    lib = os.path.join(torch, "lib")
    mac = sys.platform == "darwin"
    library = os.path.join(lib, "libtorch_cpu.dylib" if mac else "libtorch_cpu.so")
    if not os.path.exists(library):
        raise Refused(f"torch in {torch} has no {os.path.basename(library)}: {again()}")
    folders = [lib]
    if not mac:
        check_libc("redsi-models", os.path.dirname(package), "redsi_models-")
        check_libc("torch", site, "torch-")
        with open(os.path.join(lib, "libc10.so"), "rb") as f:
            if ABI not in f.read():
                raise Refused(f"torch in {torch} was built without the C++11 ABI, which redsi-models needs: {again()}")
        # libtorch finds NVIDIA's libraries beside torch by itself; these lie in other folders.
        nvidia = PathFinder.find_spec("nvidia")
        for place in nvidia and nvidia.submodule_search_locations or ():
            if os.path.dirname(place) != site:
                folders += [p for p in (os.path.join(place, name, "lib") for name in sorted(os.listdir(place))) if os.path.isdir(p)]
        env.setdefault("REDSI_CUDA_GRAPHS", os.path.dirname(program))
    variable = "DYLD_LIBRARY_PATH" if mac else "LD_LIBRARY_PATH"
    env[variable] = os.pathsep.join(folders + [env[variable]] if env.get(variable) else folders)
    return program, env


def find_torch():
    """The folder of this Python's torch, of a version that the program was built for."""
    spec = PathFinder.find_spec("torch")
    if spec is None or not spec.origin:  # a folder of that name is not torch
        raise Refused(f"this Python ({sys.executable}) has no torch: {again()}")
    torch = os.path.dirname(spec.origin)
    version = "an unknown version"
    try:
        with open(os.path.join(torch, "version.py"), encoding="utf-8") as f:
            for line in f:
                if line.startswith("__version__"):
                    version = line.split("=")[1].strip().strip("'\"")
    except FileNotFoundError:
        pass
    if not version.startswith(TORCH + "."):  # 2.11.0, 2.11.0+cpu and 2.11.0+cu130 have the same functions
        raise Refused(f"torch in {torch} is {version}, and redsi-models was built for {TORCH}: {again()}")
    return torch


def check_libc(what, site, prefix):
    """Refuses a C library that a wheel was not built for, as its tag says: pip did so where it was
    installed, but an environment may be used on another machine."""
    try:
        have = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        have = ""
    if not have.startswith("glibc "):
        raise Refused(f"{what} needs glibc, and this Python ({sys.executable}) runs on another C library, such as musl: "
                      "use an image or a machine with glibc (Debian, Ubuntu, Fedora, Rocky); redsi itself runs here")
    needs = needed(site, prefix)
    if needs > number(have[6:]):
        raise Refused(f"{what} needs glibc {needs[0]}.{needs[1]} or later, and this machine has {have[6:]}: "
                      "use a machine or an image with a newer system; redsi itself runs here")


def needed(site, prefix):
    """The glibc that a wheel installed in site needs; (0, 0) if its metadata does not say."""
    for name in os.listdir(site):
        if name.startswith(prefix) and name.endswith(".dist-info"):
            try:
                with open(os.path.join(site, name, "WHEEL"), encoding="utf-8") as f:
                    tags = [number(line.split("manylinux_")[1].replace("_", ".")) for line in f if line.startswith("Tag:") and "manylinux_" in line]
            except FileNotFoundError:
                continue
            return min(tags, default=(0, 0))
    return (0, 0)


def number(version):
    """"2.34" and "2.34.x86_64" as (2, 34)."""
    return tuple(int(n) for n in version.split(".")[:2])


def again():
    return f"run {sys.executable} -m pip install 'torch=={TORCH}.0'"
