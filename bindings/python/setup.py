# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells setuptools about the extension module; all other settings are in pyproject.toml."""
from setuptools import setup

setup(cffi_modules=["build_perfctr.py:ffi"])
