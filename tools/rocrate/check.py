"""Checks the crate of an archive with rocrate-validator and runcrate.

    python check.py ARCHIVE.zip|FOLDER [--context FILE] [--severity required|recommended]

--context is RO-Crate's own context (version 1.1), for a machine without a network: the
package rocrate 0.11.0 has it as rocrate/data/ro-crate.jsonld; that of 0.16.0 is version 1.3.
A crate, or a file, of another context is refused: it moves terms that the profile's shapes
ask for, so they would find nothing to judge. Prints what each says and ends with 1 if one of
them finds fault with what is required.
"""

import argparse
import collections
import io
import json
import pathlib
import re
import sys
import tempfile
import zipfile

from rocrate_validator import models, services
import requests
from rocrate_validator.utils import document_loader, http
from runcrate.report import dump_crate_actions

PROFILE = "provenance-run-crate-0.5"
CRATE_CONTEXT = "https://w3id.org/ro/crate/1.1/context"
RUN_CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"
RUN_TERMS = """ParameterConnection ContainerImage DockerImage SIFImage connection sourceParameter targetParameter
md5 sha1 sha256 sha512 environment registry tag containerImage resourceUsage""".split()


def same_context(folder):
    """Refuses a crate whose context is not redsi's."""
    said = json.loads((pathlib.Path(folder) / "ro-crate-metadata.json").read_text())["@context"]
    if said != [CRATE_CONTEXT, RUN_CONTEXT]:
        sys.exit(f"the crate's context is {json.dumps(said)}, not {CRATE_CONTEXT} and {RUN_CONTEXT}")


def offline(context):
    """Answers the requests for both contexts from files."""
    run = {"@context": {t: "https://w3id.org/ro/terms/workflow-run#" + t for t in RUN_TERMS}}
    known = {CRATE_CONTEXT: json.loads(pathlib.Path(context).read_text()), RUN_CONTEXT: run}
    if (of := known[CRATE_CONTEXT].get("@id")) != CRATE_CONTEXT:
        sys.exit(f"{context} is the context {of}, not {CRATE_CONTEXT}")

    def get(self, url, **_):
        answer = requests.Response()
        answer.status_code, answer.url = (200, url) if url in known else (404, url)
        answer.headers["Content-Type"] = "application/ld+json"
        answer._content = json.dumps(known.get(url)).encode()
        return answer

    document_loader._fetch_json_ld = lambda url: known[url]
    http.HttpRequester.get = get


def unpack(path):
    """The folder of an archive: its metadata, and empty files for all others."""
    if not zipfile.is_zipfile(path):
        return path
    folder = pathlib.Path(tempfile.mkdtemp(prefix="crate-"))
    with zipfile.ZipFile(path) as z:
        for entry in z.infolist():
            to = folder / entry.filename
            to.parent.mkdir(parents=True, exist_ok=True)
            small = entry.file_size < 1 << 24 and not entry.filename.startswith("store/")
            to.write_bytes(z.read(entry) if small or entry.filename.endswith(".json") else b"-")
    return str(folder)


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("crate")
    args.add_argument("--context")
    args.add_argument("--severity", default="required")
    args = args.parse_args()
    if args.context:
        offline(args.context)
    folder = unpack(args.crate)
    same_context(folder)
    settings = {"rocrate_uri": folder, "profile_identifier": PROFILE, "requirement_severity": args.severity.upper(),
                "abort_on_first": False, "disable_remote_crate_download": True}
    result = services.validate(settings)
    print(f"{PROFILE}: {'passed' if result.passed() else 'FAILED'}, checks of severity {args.severity} and above")
    found = collections.Counter()
    for issue in result.get_issues():
        message = re.sub(r'"#[^"]*"', '"#…"', " ".join(issue.message.split()))
        found[(issue.check.identifier, issue.severity.name, message)] += 1
    for (check, severity, message), n in sorted(found.items()):
        print(f"  {severity} {check} ({n} times): {message}")
    said = io.StringIO()
    dump_crate_actions(folder, f=said)
    actions = sum(line.startswith("action: ") for line in said.getvalue().splitlines())
    print(f"runcrate report: {actions} actions")
    sys.exit(0 if result.passed() and actions else 1)


if __name__ == "__main__":
    main()
