# SPDX-License-Identifier: GPL-2.0
# make demo: see hcomm at work.  make check: all tests.  Both do their own set-up, as root on Debian 12.
# make check T=NAME runs one test, make soak the full sizes.  On a real machine: make all install.
KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
KERNEL ?= stock-6.1
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
MODULE = $(CURDIR)/build/module
DKMSSRC = $(DESTDIR)/usr/src/hcomm-$(VERSION)
DOCDIR = $(DESTDIR)$(PREFIX)/share/doc/hcomm
UNITDIR ?= /lib/systemd/system

all: lib tools modules

# From a copy: the kernel's build system leaves its objects beside the sources.
modules:
	@mkdir -p $(MODULE)/kmod $(MODULE)/uapi/hcomm
	@cp -u Kbuild $(MODULE)/ && cp -u kmod/*.[ch] $(MODULE)/kmod/ && cp -u uapi/hcomm/*.h $(MODULE)/uapi/hcomm/
	@for f in $(MODULE)/kmod/*.[ch]; do test -e kmod/$${f##*/} || rm $$f; done
	$(MAKE) -C $(KDIR) M=$(MODULE) modules

modules_install: modules
	$(MAKE) -C $(KDIR) M=$(MODULE) modules_install

lib:
	$(MAKE) -C lib

tools: lib
	$(MAKE) -C tools

selftests: tools
	$(MAKE) -C selftests

demo: deps
	@selftests/demo/demo $(KERNEL)

check: deps
	@selftests/run check $(T)

soak: deps
	@selftests/run soak $(T)

fuzz: deps
	$(MAKE) -C selftests/unit fuzz SECONDS=$(or $(SECONDS),600)

deps:
	@selftests/deps

# The module's source goes where dkms looks for it: dkms install -m hcomm -v $(VERSION)
install: lib tools
	$(MAKE) -C lib install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	$(MAKE) -C tools install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	set -e; for f in Documentation/man/*.[1-8]; do \
		install -d $(DESTDIR)$(PREFIX)/share/man/man$${f##*.}; \
		install -m 644 $$f $(DESTDIR)$(PREFIX)/share/man/man$${f##*.}/; done
	install -d $(DKMSSRC)/kmod $(DKMSSRC)/uapi/hcomm $(DOCDIR) $(DESTDIR)$(UNITDIR)
	install -m 644 Kbuild dkms.conf $(DKMSSRC)/
	install -m 644 kmod/*.[ch] $(DKMSSRC)/kmod/
	install -m 644 uapi/hcomm/*.h $(DKMSSRC)/uapi/hcomm/
	install -m 644 dist/hcomm.conf.example dist/hcomm.conf.modprobe $(wildcard README Documentation/*.md) $(DOCDIR)/
	sed 's|@SBINDIR@|$(PREFIX)/sbin|' dist/hcomm.service > $(DESTDIR)$(UNITDIR)/hcomm.service
	chmod 644 $(DESTDIR)$(UNITDIR)/hcomm.service

clean:
	rm -rf build/lib build/tools build/selftests build/module-* build/module build/static build/log

.PHONY: all modules modules_install lib tools selftests demo check soak fuzz deps install clean
