"""The recipe for conda, as rattler-build reads it: packages for both architectures, with what pyproject.toml says."""

from __future__ import annotations

import pathlib
import re
from typing import List

from release.roots import Failed

PROJECT = pathlib.Path(__file__).resolve().parents[2]

#: What the channel that recipes are written for says of these.
_VARIANTS = {"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.17"], "python": ["3.12"]}


def check() -> List[str]:
    """Lines of what holds. Raises Failed where something does not."""
    from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

    recipe = Stage0Recipe.from_file(PROJECT / "packaging" / "conda" / "recipe.yaml")
    told = []
    for platform in ("linux-64", "linux-aarch64"):
        config = PlatformConfig(target_platform=platform, build_platform="linux-64", host_platform=platform)
        rendered = [one.recipe for one in recipe.render(VariantConfig(_VARIANTS), RenderConfig(config))]
        if len(rendered) != 1:
            raise Failed(f"recipe.yaml: {len(rendered)} packages for {platform}")
        needs = rendered[0].to_dict()["requirements"]
        if f"python >={_lowest_python()}" not in needs["run"]:
            raise Failed(f"recipe.yaml: another Python than pyproject.toml: {needs['run']}")
        licences = rendered[0].to_dict()["about"]["license_file"]
        if "third-party/notices.txt" not in licences:
            raise Failed(f"recipe.yaml: no licences of crates: {licences}")
        package = rendered[0].package
        told.append(f"{platform}: {package.name} {package.version}, built with {', '.join(needs['build'])}")
    return told


def _lowest_python() -> str:
    found = re.search(r'^requires-python = ">=(.*)"$', (PROJECT / "pyproject.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]
