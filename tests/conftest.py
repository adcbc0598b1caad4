"""What all tests share: the data folder beside the checkout, profiles of hypothesis."""
import os
import pathlib

import hypothesis
import pytest

# The machines that run the tests are small and busy, so no example is held to a time.
hypothesis.settings.register_profile("quick", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("ci", parent=hypothesis.settings.get_profile("quick"), max_examples=400, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

SHARED = pathlib.Path(os.environ.get("LLGCY_SHARED", pathlib.Path(__file__).parents[2] / "shared"))
REQUIRED = bool(os.environ.get("LLGCY_SHARED_REQUIRED"))
"""Set where the data and the packages that its tests need are installed: skipping such a test is then a failure."""


@pytest.fixture(scope="session")
def shared():
    """Path of ``../shared/data``: files of other projects, which are not part of this one."""
    path = SHARED / "data"
    if not path.is_dir():
        pytest.skip(f"{path} is absent (LLGCY_SHARED names another place)")
    return path


@pytest.hookimpl(tryfirst=True)      # before the selection by marker
def pytest_collection_modifyitems(items):
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if REQUIRED and report.skipped and item.get_closest_marker("shared") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} reads the shared data and was skipped: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if REQUIRED and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped as a whole, so its tests on the shared data are unknown: {report.longrepr}"
    return report
