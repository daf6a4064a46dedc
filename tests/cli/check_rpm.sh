#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the anydnn authors
#
# Files that RPM packages own: first with a program rpm that answers as told, then, where rpmbuild is there, with a real database.
. "$(dirname "$0")/check_common.sh"

# An rpm that says the lines of $work/answer and keeps its arguments.
mkdir "$work/bin"
printf '#!/bin/sh\nfor word; do echo "$word"; done >>"%s/asked"\ncat "%s/answer"\n' "$work" "$work" >"$work/bin/rpm"
chmod +x "$work/bin/rpm"
system_path=$PATH
answers() { # LINE... as printf takes them
    printf '%b\n' "$@" >"$work/answer"
    : >"$work/asked"
    PATH=$work/bin:$system_path
}
asked() { # WORD: an argument of rpm
    grep -qxF -- "$1" "$work/asked" || fail "rpm was not asked with $1: $(cat "$work/asked")"
}

machine "rpm owns the library, another package the header"
copy_of 8.9.7 /usr/lib64
header /usr/include/cudnn_version.h 8.2.0
: >"$root/usr/include/cudnn.h"
answers 'libcudnn8\t8.9.7.29-1.cuda12.2\t/usr/lib64/libcudnn.so.8' 'libcudnn8\t8.9.7.29-1.cuda12.2\t/usr/lib64/libcudnn.so.8.9.7' \
    'libcudnn8-devel\t8.2.0.53-1\t/usr/include/cudnn_version.h' 'file /usr/lib64/libcudnn_x.so is not owned by any package'
check
[ ! -s "$work/asked" ] || fail "rpm is asked where there is no database of rpm"
mkdir -p "$root/var/lib/rpm"
: >"$root/var/lib/rpm/rpmdb.sqlite"
check
asked "$root/var/lib/rpm"
asked /usr/lib64/libcudnn.so.8.9.7
says '"kind":	"rpm"'
says '"package":	"libcudnn8"'
says '"version":	"8.9.7.29-1.cuda12.2"'
says '"cuda":	12'
finds header-mismatch "libcudnn8-devel 8.2.0.53-1 (rpm)"
[ "$(grep -cxF -- -f "$work/asked")" -le 2 ] || fail "rpm is asked file by file"

machine "--fix leaves what rpm owns alone"
copy_of 8.9.7 /usr/lib64
mkdir -p "$root/usr/lib/sysimage/rpm"
: >"$root/usr/lib/sysimage/rpm/Packages.db"
cp --remove-destination "$root/usr/lib64/libcudnn.so.8.9.7" "$root/usr/lib64/libcudnn.so.8"
answers 'libcudnn8\t8.9.7.29-1\t/usr/lib64/libcudnn.so.8'
check --dry-run
asked "$root/usr/lib/sysimage/rpm"
! grep -q '"operation":	"link"' "$work/out" || fail "a file of a package would be replaced"
answers 'file /usr/lib64/libcudnn.so.8 is not owned by any package'
check --dry-run
says '"operation":	"link"'

machine "an rpm that does not end"
copy_of 8.9.7 /usr/lib64
mkdir -p "$root/var/lib/rpm"
: >"$root/var/lib/rpm/Packages"
printf '#!/bin/sh\nexec sleep 1000\n' >"$work/bin/rpm"
check
says '"owner":	null'

PATH=$system_path
if command -v rpmbuild >/dev/null; then
    machine "a real database of rpm"
    copy_of 8.9.7 /usr/lib64
    cat >"$work/spec" <<SPEC
Name: libcudnn8
Version: 8.9.7.29
Release: 1.cuda12.2
Summary: test
License: test
BuildArch: noarch
%description
test
%install
mkdir -p %{buildroot}/usr/lib64
cp -a $root/usr/lib64/libcudnn*.so.8* %{buildroot}/usr/lib64/
%files
/usr/lib64/*
SPEC
    rpmbuild -bb --quiet --define "_topdir $work/rpmbuild" --define '__os_install_post %{nil}' --define 'debug_package %{nil}' "$work/spec" \
        >"$work/log" 2>&1 && rpm -i --justdb --nodeps --dbpath "$root/var/lib/rpm" "$work"/rpmbuild/RPMS/noarch/*.rpm >>"$work/log" 2>&1 ||
        fail "no package could be made: $(cat "$work/log")"
    check
    says '"kind":	"rpm"'
    says '"version":	"8.9.7.29-1.cuda12.2"'
    finds no-header "[libcudnn8 8.9.7.29-1.cuda12.2 (rpm)]"
    (cd "$root/.." && "$anydnn" check --json --root "./${root##*/}" >"$work/out") || true # a root that is no absolute path
    says '"kind":	"rpm"'
fi
done_all
