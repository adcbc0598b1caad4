"""What a source distribution and a wheel must hold and must not: ``check_distributions.py SDIST WHEEL``. Run in the root of the checkout."""
import subprocess
import sys
import tarfile
import zipfile

GENERATED = (".c", ".so", ".pyd", ".pyc", ".html")
NOT_IN_SDIST = (".ci/", ".gitignore")


def main(sdist, wheel):
    tracked = set(subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")) - {""}
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())

    problems = [f"sdist lacks {name}" for name in tracked - in_sdist if not name.startswith(NOT_IN_SDIST)]
    problems += [f"sdist holds the generated {name}" for name in in_sdist if name.endswith(GENERATED)]
    for name in sorted(tracked):
        if name.startswith("llgcy/") and not name.endswith(".pyx") and name not in in_wheel:
            problems.append(f"wheel lacks {name}")
        if name.endswith(".pyx") and not any(built.startswith(name[:-3]) and built.endswith((".so", ".pyd")) for built in in_wheel):
            problems.append(f"wheel lacks the compiled {name}")
    for name in in_wheel:
        if name.endswith((".c", ".pyx", ".pyc", ".html")):
            problems.append(f"wheel holds {name}")
        if not name.startswith("llgcy") or name.startswith("llgcy/") and name not in tracked and not name.endswith((".so", ".pyd")):
            problems.append(f"wheel holds {name}, which is no part of the package")
    print("\n".join(problems) or f"{len(in_sdist)} entries in the sdist, {len(in_wheel)} in the wheel, as they should be")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
