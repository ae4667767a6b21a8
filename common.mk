# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the makefiles share: compilers, and checks of directories. A makefile calls
# $(call one_path,NAME) if a variable stands in a target or a recipe, and $(call absolute,NAME) if
# another makefile reads it in another directory. Recipes take DESTDIR from the environment, so it may
# contain any character.

# `make -R' leaves these undefined.
ifneq ($(filter default undefined,$(origin CC)),)
CC := $(CROSS_COMPILE)gcc
endif
ifneq ($(filter default undefined,$(origin CXX)),)
CXX := $(CROSS_COMPILE)g++
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := $(CROSS_COMPILE)ar
endif
INSTALL ?= install
# Warnings are errors only in the build roots: other compilers may have other warnings.
WERROR ?= $(if $(INROOT),-Werror)

# Characters that make or the shell would misread
special := ; & | < > ( ) { } [ ] * ? ! ' " \ ` : % $$ \#
one_path = $(if $($1),,$(error $1 is empty; it must be a directory))$(call plain,$1)
plain = $(if $(word 2,x$($1)x)$(strip $(foreach c,$(special),$(findstring $c,$($1)))),\
	$(error $1 must have no blank, nor any of $(special), but it is '$($1)'))
absolute = $(if $($1),$(if $(filter x/%,$(firstword x$($1))),,$(error $1 must begin with /, but it is '$($1)')))
