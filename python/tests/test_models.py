"""The launcher of redsi-models, with a program and a torch that are not real."""

import importlib.util
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

# It is in the tree only, beside a redsi that is not the installed one.
spec = importlib.util.spec_from_file_location("redsi_models", Path(__file__).parents[1] / "redsi_models/__init__.py")
redsi_models = importlib.util.module_from_spec(spec)
spec.loader.exec_module(redsi_models)


@unittest.skipUnless(sys.platform == "linux", "the launcher's checks are Linux's")
class Launcher(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = Path(folder.name)
        self.package = self.site / "redsi_models"
        self.write("redsi_models/bin/redsi-models")
        self.wheel("redsi_models-0.1.0", "py3-none-manylinux_2_28_x86_64")
        self.torch()
        self.path = [str(self.site)]
        self.glibc = "glibc 2.31"

    def write(self, name, text=""):
        path = self.site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def wheel(self, name, tag):
        self.write(f"{name}.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")

    def torch(self, version="2.11.0+cu130", abi="_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_string", tag="manylinux_2_28_x86_64"):
        self.write("torch/__init__.py")
        self.write("torch/version.py", f"from typing import Optional\n__version__ = '{version}'\n")
        self.write("torch/lib/libtorch_cpu.so")
        self.write("torch/lib/libc10.so", abi)
        self.wheel("torch-2.11.0", f"cp312-cp312-{tag}")

    def prepare(self, **env):
        with mock.patch.object(sys, "path", self.path), mock.patch.object(os, "confstr", lambda name: self.glibc):
            sys.path_importer_cache.clear()
            return redsi_models.prepare(str(self.package), env)

    def refused(self, *words):
        with self.assertRaises(redsi_models.Refused) as caught:
            self.prepare()
        for w in words:
            self.assertIn(w, str(caught.exception))

    def test_environment(self):
        lib = str(self.site / "torch/lib")
        program, env = self.prepare()
        self.assertEqual(program, str(self.package / "bin/redsi-models"))
        self.assertEqual(env, {"LD_LIBRARY_PATH": lib, "REDSI_CUDA_GRAPHS": str(self.package / "bin")})
        _, env = self.prepare(LD_LIBRARY_PATH="/opt/lib", REDSI_CUDA_GRAPHS="off")
        self.assertEqual(env, {"LD_LIBRARY_PATH": lib + ":/opt/lib", "REDSI_CUDA_GRAPHS": "off"})

    def test_nvidia_elsewhere(self):
        with tempfile.TemporaryDirectory() as other:
            folder = Path(other) / "nvidia/cu13/lib"
            folder.mkdir(parents=True)
            self.write("nvidia/nccl/lib/libnccl.so.2")  # beside torch, where libtorch looks by itself
            self.path.append(other)
            _, env = self.prepare()
            self.assertEqual(env["LD_LIBRARY_PATH"], f"{self.site}/torch/lib:{folder}")

    def test_torch(self):
        self.torch(version="2.11.1")
        self.prepare()
        self.torch(version="2.4.1+cpu")
        self.refused(f"torch in {self.site}/torch is 2.4.1+cpu", "built for 2.11", "pip install 'torch==2.11.0'")
        self.torch(version="2.110.0")
        self.refused("2.110.0")
        self.torch(abi="_ZN3c106detail14torchCheckFailEPKcS2_jRKSs")
        self.refused("without the C++11 ABI", "pip install")
        self.torch()
        (self.site / "torch/lib/libtorch_cpu.so").unlink()
        self.refused("no libtorch_cpu.so", "pip install")
        (self.site / "torch/version.py").unlink()
        self.refused("an unknown version")
        (self.site / "torch/__init__.py").unlink()
        self.refused("has no torch", sys.executable, "pip install")

    def test_libc(self):
        self.glibc = "glibc 2.27"
        self.refused("redsi-models needs glibc 2.28 or later", "this machine has 2.27")
        self.wheel("redsi_models-0.1.0", "py3-none-manylinux_2_17_x86_64")
        self.refused("torch needs glibc 2.28 or later")
        self.glibc = None
        self.refused("musl", "redsi itself runs here")

    def test_what_is_said(self):
        (self.site / "torch/__init__.py").unlink()
        with mock.patch.object(redsi_models, "__file__", str(self.package / "__init__.py")), mock.patch.object(sys, "path", self.path):
            sys.path_importer_cache.clear()
            with mock.patch("sys.stderr") as err:
                self.assertEqual(redsi_models.main(), 2)
        said = "".join(c.args[0] for c in err.write.call_args_list)
        self.assertRegex(said, r"^redsi-models: this Python .* has no torch: run .*\n$")


if __name__ == "__main__":
    unittest.main()
