"""The work tree: fresh for each run, proved before it, compared after it."""

from __future__ import annotations

from runner.errors import RunnerError
from runner.sandbox.backends.conformance.kit import (
    Behaviour,
    ConformanceFailure,
    Need,
    Stage,
    execute_and_inspect,
    expect,
    expect_exit,
    sh,
)

_CHANGE = "printf new > added.txt; printf other > change.txt; rm gone.txt; chmod 600 keep.txt"


def _fresh(stage: Stage) -> None:
    script = 'test ! -e left.txt && test "$(cat change.txt)" = before && echo x > left.txt && echo x > change.txt'
    with stage.session(sh(script), runs=3) as session:
        for index in (1, 2, 3):
            run = session.prepare(index)
            expect(f"fingerprint before run {index}", run.before, stage.sealed.fingerprint)
            expect_exit(execute_and_inspect(run)[0], 0)


def _changes(stage: Stage) -> None:
    execution, aftermath = stage.run_and_inspect(sh(_CHANGE))
    expect_exit(execution, 0)
    expect("changes", [(change.kind, change.path) for change in aftermath.changes],
           [("added", b"added.txt"), ("modified", b"change.txt"), ("removed", b"gone.txt"),
            ("mode", b"keep.txt")])
    if aftermath.after is None or aftermath.after == stage.sealed.fingerprint:
        raise ConformanceFailure("the fingerprint after a change is the one before")


def _no_changes(stage: Stage) -> None:
    execution, aftermath = stage.run_and_inspect(sh("cat keep.txt dir/link >/dev/null"))
    expect_exit(execution, 0)
    expect("changes", aftermath.changes, ())
    expect("fingerprint", aftermath.after, stage.sealed.fingerprint)


def _rewrite_with_old_times(stage: Stage) -> None:
    script = "touch -r change.txt ref; printf 'BEFORE\\n' > change.txt; touch -r ref change.txt; rm ref"
    execution, aftermath = stage.run_and_inspect(sh(script))
    expect_exit(execution, 0)
    expect("changes", [(change.kind, change.path) for change in aftermath.changes], [("modified", b"change.txt")])


def _swapped_directory(stage: Stage) -> None:
    execution, aftermath = stage.run_and_inspect(sh("rm -r dir && ln -s /etc dir"))
    expect_exit(execution, 0)
    expect("paths", [(change.kind, change.path) for change in aftermath.changes],
           [("modified", b"dir"), ("removed", b"dir/deep.txt"), ("removed", b"dir/link")])


def _locked_directories(stage: Stage) -> None:
    script = "mkdir -p a/b/c && echo x > a/b/c/f && chmod 0 a/b/c/f a/b/c a/b a"
    execution, aftermath = stage.run_and_inspect(sh(script))
    expect_exit(execution, 0)
    expect("whether the locked directory was seen", (b"a" in {change.path for change in aftermath.changes}), True)


def _artifacts(stage: Stage) -> None:
    script = "mkdir out && printf result > out/r.txt && ln -s /etc/passwd out/leak.txt && mkfifo out/pipe.txt"
    execution, aftermath = stage.run_and_inspect(sh(script), artifacts=("out/*.txt", "nowhere.txt"))
    expect_exit(execution, 0)
    expect("artifacts", [(taken.path, taken.data) for taken in aftermath.artifacts], [(b"out/r.txt", b"result")])


def _side_by_side(stage: Stage) -> None:
    with stage.session(sh("test ! -e mark && echo x > mark"), runs=2, jobs=2, ahead=0) as session:
        runs = [session.prepare(1), session.prepare(2)]
        for run in runs:
            expect_exit(run.execute(), 0)
        for run in runs:
            expect("paths", [change.path for change in run.inspect().changes], [b"mark"])
            run.discard()


def _inspect_first(stage: Stage) -> None:
    with stage.session(sh(":")) as session:
        run = session.prepare(1)
        try:
            run.inspect()
        except RunnerError:
            return
        finally:
            run.discard()
    raise ConformanceFailure("a tree was looked at before its workload had ended")


BEHAVIOURS = (
    Behaviour("each run has a fresh copy that equals the seal", _fresh),
    Behaviour("changes are listed", _changes),
    Behaviour("reading changes nothing", _no_changes),
    Behaviour("a rewrite of the same size with old times is seen", _rewrite_with_old_times),
    Behaviour("a directory swapped for a link is not followed", _swapped_directory),
    Behaviour("directories of mode 0 are looked at and removed", _locked_directories),
    Behaviour("declared artifacts are taken, regular files only", _artifacts),
    Behaviour("two prepared runs do not share a tree", _side_by_side),
    Behaviour("no tree is looked at before its workload has ended", _inspect_first, frozenset({Need.ORDER})),
)
