# SPDX-License-Identifier: LGPL-2.1-or-later
"""pyproject.toml has all but what setuptools knows only from here."""
from setuptools import setup

setup(cffi_modules=["build_perfctr.py:ffi"])
