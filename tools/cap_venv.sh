# Virtual environments with the published CAP SDK, for cap_tests. Sourced by ./dev.

# ensure_cap_venv VERSION: makes build/cap-venv/VERSION unless it stands and its lock file is
# unchanged, and names its interpreter in FAIRLEAD_CAP_PYTHON_<VERSION>. When it cannot be made
# (no network), the variable stays unset and the tests that need it skip.
ensure_cap_venv() {
  local version=$1
  local lock=$root/tests/cap/requirements-$version.txt
  local venv=$root/build/cap-venv/$version
  if ! cmp -s "$lock" "$venv/installed.txt"; then
    say "installing the CAP SDK $version into ${venv#"$root"/}"
    rm -rf "$venv"
    if ! { /usr/bin/python3 -m venv "$venv" &&
      "$venv/bin/pip" install -q --disable-pip-version-check --require-hashes -r "$lock" &&
      cp "$lock" "$venv/installed.txt"; } >&2; then
      say "could not install it: its tests will be skipped"
      return
    fi
  fi
  export "FAIRLEAD_CAP_PYTHON_${version//./_}=$venv/bin/python"
}
