# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the makefiles share: compilers, and which directories they take. A makefile calls
# $(call one_path,NAME) for a variable that stands in a target or a recipe as it is, and
# $(call absolute,NAME) for one that another makefile reads in another directory. A recipe reads DESTDIR and the
# directories below it from the environment, so any other character may be in it.

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
# Warnings of compilers that we have not seen do not end a user's build: those of the build roots we have.
WERROR ?= $(if $(INROOT),-Werror)

# A blank, or what make or the shell takes for something else
special := ; & | < > ( ) { } [ ] * ? ! ' " \ ` : % $$ \#
one_path = $(if $($1),,$(error $1 is empty; it must be a directory))$(call plain,$1)
plain = $(if $(word 2,x$($1)x)$(strip $(foreach c,$(special),$(findstring $c,$($1)))),\
	$(error $1 must have no blank, nor any of $(special), but it is '$($1)'))
absolute = $(if $($1),$(if $(filter x/%,$(firstword x$($1))),,$(error $1 must begin with /, but it is '$($1)')))
