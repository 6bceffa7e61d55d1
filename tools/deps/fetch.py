"""Downloads one wheel through pip's own index and session, and continues a file that an earlier run left.

usage: fetch.py DISTRIBUTION VERSION WHEEL PART -- [pip download options]

`pip download` keeps nothing of a download that was cut off. This asks the same pip (its configured index, mirrors,
proxy, certificates and credentials) where the wheel is, and appends to PART from where it ends. pip's inside is not
a public interface: when it is not as expected, the wheel comes from plain `pip download`, whole.

Prints `bytes DONE TOTAL` lines while the file grows. Does not verify: the caller compares the sha256.
Exit status: 0 PART is complete, 1 with a message on stderr.
"""

import os
import subprocess
import sys
import tempfile
import time

CHUNK = 1 << 20
ATTEMPTS = 5


class PipChanged(Exception):
    """pip has no such internal; the public command is used instead."""


def link_and_session(distribution, version, wheel, pip_options):
    """The wheel's address as pip finds it, and a session that can get it."""
    try:
        from pip._internal.cli import cmdoptions
        from pip._internal.commands import create_command
        from pip._vendor.packaging.specifiers import SpecifierSet

        command = create_command("download", isolated=False)
        context = command.main_context()
    except (ImportError, AttributeError, TypeError) as err:
        raise PipChanged(err)
    with context:
        try:
            from pip._internal.utils.temp_dir import global_tempdir_manager, tempdir_registry

            command.tempdir_registry = command.enter_context(tempdir_registry())
            command.enter_context(global_tempdir_manager())
            options, _ = command.parse_args(list(pip_options) + ["--no-cache-dir", "-q"])
            options.cache_dir = None
            cmdoptions.check_dist_restriction(options)
            session = command.get_default_session(options)
            target = cmdoptions.make_target_python(options)
            finder = command._build_package_finder(options, session, target_python=target)
            best = finder.find_best_candidate(distribution, SpecifierSet("==" + version)).best_candidate
        except (ImportError, AttributeError, TypeError, KeyError) as err:
            raise PipChanged(err)
        if best is None:
            sys.exit(
                "pip finds no wheel of %s %s for the wanted platform. Can it reach its index (python3 -m pip config list)?"
                % (distribution, version)
            )
        if best.link.filename != wheel:
            sys.exit("pip's index offers %s, not %s" % (best.link.filename, wheel))
        return best.link.url_without_fragment, session


def append(session, url, part):
    """Gets what PART lacks. Returns False when the connection ended early."""
    have = os.path.getsize(part) if os.path.exists(part) else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = "bytes=%d-" % have
    reply = session.get(url, headers=headers, stream=True)
    if reply.status_code == 416:  # nothing after what is here: complete, or another file; the checksum tells
        return True
    reply.raise_for_status()
    if reply.status_code != 206:
        have = 0
    total = have + int(reply.headers.get("Content-Length", 0))
    shown = 0.0
    with open(part, "ab" if have else "wb") as out:
        for chunk in reply.raw.stream(CHUNK, decode_content=False):
            out.write(chunk)
            have += len(chunk)
            if time.time() - shown > 0.2:
                shown = time.time()
                out.flush()
                print("bytes %d %d" % (have, total), flush=True)
    print("bytes %d %d" % (have, total), flush=True)
    return total == 0 or have >= total


def resume(distribution, version, wheel, part, pip_options):
    url, session = link_and_session(distribution, version, wheel, pip_options)
    if url.startswith("file:"):  # of a folder of wheels (find-links)
        return whole(distribution, version, wheel, part, pip_options)
    error = "the connection ended early"
    for attempt in range(ATTEMPTS):
        before = os.path.getsize(part) if os.path.exists(part) else 0
        try:
            if append(session, url, part):
                return
        except BrokenPipeError:  # who reads the `bytes` lines is gone, and another run may continue the file
            sys.exit(1)
        except Exception as err:  # requests and urllib3 raise many kinds; the address is asked again either way
            error = str(err)
        after = os.path.getsize(part) if os.path.exists(part) else 0
        print("%s: cut off at %d bytes (%s), trying again" % (wheel, after, error), file=sys.stderr, flush=True)
        time.sleep(0 if after > before else 2 ** attempt)
    sys.exit("%s: %d attempts failed, the last one so: %s" % (wheel, ATTEMPTS, error))


def whole(distribution, version, wheel, part, pip_options):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(part)) as folder:
        subprocess.check_call(
            [sys.executable, "-m", "pip", "download", "-q", "--dest", folder]
            + list(pip_options)
            + ["%s==%s" % (distribution, version)]
        )
        os.replace(os.path.join(folder, wheel), part)


def main(argv):
    distribution, version, wheel, part, dashes = argv[:5]
    assert dashes == "--", __doc__
    try:
        resume(distribution, version, wheel, part, argv[5:])
    except PipChanged as err:
        print("pip's inside has changed (%s): downloading without resumption" % err, file=sys.stderr, flush=True)
        whole(distribution, version, wheel, part, argv[5:])


if __name__ == "__main__":
    main(sys.argv[1:])
