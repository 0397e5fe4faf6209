"""How pytest runs the tests, and nbval the notebooks, beyond what their options say."""

from hypothesis import HealthCheck, settings

# a busy machine is no failure
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_configure(config):
    """Import, before two workers begin, what their warnings are instances of.

    The process that gathers their reports would import it when a warning comes, in one thread for
    each worker. If two come at once, one thread finds a package that the other has half imported,
    and its worker counts as crashed.
    """
    if not hasattr(config, "workerinput"):  # a worker measures what its tests import
        import pu_utils.models  # noqa: F401


def pytest_collectstart(collector):
    """Drawings may differ between machines in a last digit: like PNG, they are not compared."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("image/svg+xml",)
