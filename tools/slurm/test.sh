#!/bin/bash
# test.sh REDSI SERVER TESTS [PART…]: redsi in jobs of a real Slurm on this machine (start.sh). Lines named B… and T… are
# of one subject each; PART is a file of this folder, all of them without it. PORT=17817 and the next are Slurm's.
[ $# -ge 3 ] || { echo "usage: $0 REDSI SERVER TESTS [PART…]; TESTS is the program of internal/host/slurm's tests"; exit 2; }
tests=$(realpath "$3")
. "$(dirname "$0")/start.sh" "$1" "$2"
shift 3; [ $# -gt 0 ] || set -- allocation signals limit workers folder owner run head refused
parts "$@"
