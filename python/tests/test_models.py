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
        self.torch()
        self.path = [str(self.site)]
        self.glibc = "glibc 2.31"

    def write(self, name, text=""):
        path = self.site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def torch(self, version="2.11.0+cu130", abi="_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_string"):
        self.write("torch/lib/libc10.so", abi)
        self.write("torch-2.dist-info/METADATA", f"Name: torch\nVersion: {version}\n")

    def prepare(self, **env):
        with mock.patch.object(sys, "path", self.path), mock.patch.object(os, "confstr", lambda name: self.glibc):
            importlib.invalidate_caches()
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

    def test_torch(self):
        for version, program in {"2.11.1": "redsi-models", "2.12.1+cpu": "redsi-models", "2.14.0": "redsi-models-2.14.0",
                                 "2.15.0+cu132": "redsi-models-2.14.0"}.items():
            self.torch(version=version)
            self.assertEqual(self.prepare()[0], str(self.package / "bin" / program))
        self.torch(version="2.4.1+cpu")
        self.refused(f"torch in {self.site}/torch is 2.4.1+cpu", "is for 2.11, 2.12, 2.14, 2.15", "pip install 'torch==2.15.*'")
        self.torch(version="2.13.0")
        self.refused("2.13.0")
        self.torch(version="2.110.0")
        self.refused("2.110.0")
        self.torch(abi="_ZN3c106detail14torchCheckFailEPKcS2_jRKSs")
        self.refused("without the C++11 ABI", "pip install")
        (self.site / "torch/lib/libc10.so").unlink()
        self.refused("is not whole", "libc10.so", "pip install")
        self.without_torch()
        self.refused("has no torch", sys.executable, "pip install")

    def without_torch(self):
        (self.site / "torch-2.dist-info/METADATA").unlink()
        (self.site / "torch-2.dist-info").rmdir()

    def test_musl(self):
        self.glibc = None
        self.refused("musl", "redsi itself runs here")

    def test_what_is_said(self):
        self.without_torch()
        with mock.patch.object(redsi_models, "__file__", str(self.package / "__init__.py")), mock.patch.object(sys, "path", self.path):
            importlib.invalidate_caches()
            with mock.patch("sys.stderr") as err:
                self.assertEqual(redsi_models.main(), 2)
        said = "".join(c.args[0] for c in err.write.call_args_list)
        self.assertRegex(said, r"^redsi-models: this Python .* has no torch: run .*\n$")


if __name__ == "__main__":
    unittest.main()
