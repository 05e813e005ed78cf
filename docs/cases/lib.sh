# Sourced by each run.sh, which sets $here: a scratch directory, payloads made of released packages, and commands
# shown as they are typed. Everything is removed at the end.
set -eu
root=$(cd "$here/../../.." && pwd)
PATH=$root/.venv/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# payload SIDE: the case's own files, and in vendor/ the packages that SIDE.txt names by version and SHA-256.
payload() {
    cp -R "$here/payload" "$1"
    python -m pip download -qq --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
        --implementation cp --python-version 3.11 --platform any --platform manylinux2014_x86_64 \
        --dest "wheels-$1" --requirement "$here/$1.txt"
    for wheel in "wheels-$1"/*.whl; do
        python -m zipfile -e "$wheel" "$1/vendor"
    done
}

# aim REPORT PAYLOAD NEW: the same contract, asked of another payload.
aim() {
    python "$here/../aim.py" "$1" "$2" "$3"
}

# expect CODE COMMAND...: show the command, its output and its exit code; stop if that is not CODE.
expect() {
    wanted=$1
    shift
    python -c 'import shlex, sys; print("$", shlex.join(sys.argv[1:]))' "$@"
    code=0
    "$@" 2>&1 || code=$?
    printf '[exit code %s]\n' "$code"
    [ "$code" = "$wanted" ]
}
