import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** The mount points of systemd's process groups, versions 1 and 2. */
const MOUNTS = ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified', '/sys/fs/cgroup']
const isMount = (path: string): boolean => existsSync(join(path, 'cgroup.procs'))

/** Removes groups that the manager also created in other hierarchies. */
function removeGroups(name: string): void {
  const remove = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) remove(join(folder, entry.name))
    rmdirSync(folder)
  }
  for (const mount of ['', ...readdirSync('/sys/fs/cgroup')]) {
    const folder = join('/sys/fs/cgroup', mount, name)
    if (existsSync(folder)) remove(folder)
  }
}

const PROLOGUE = `
for mount in "$@"; do echo $$ > "$mount/cgroup.procs"; done
mount -t tmpfs none /run
mkdir -p /run/systemd/system /run/user/0
chmod 700 /run/user/0
export XDG_RUNTIME_DIR=/run/user/0 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/0/bus
dbus-daemon --session --address="$DBUS_SESSION_BUS_ADDRESS" --fork --nopidfile
/lib/systemd/systemd --user 2> "$HOME/systemd.log" &
until systemctl --user is-system-running > "$HOME/state" 2>&1; do
  grep -q degraded "$HOME/state" && break
  kill -0 $! || { cat "$HOME/systemd.log" >&2; exit 99; }
  sleep 0.1
done
`

/**
 * Runs a bash script with a real `systemd --user` in its own namespaces, which leave no traces on the machine. Needs
 * Linux, root, dbus and systemd.
 * @param script run with `set -e`
 * @param env HOME is a folder of the test
 * @throws if the machine does not support it
 */
export function runBesideSystemd(script: string, env: Record<string, string>): string {
  const name = `commonplace-test-${process.pid}`
  const mounts = MOUNTS.filter(isMount).map((mount) => join(mount, name))
  if (mounts.length === 0 || process.getuid?.() !== 0 || !readFileSync('/proc/self/cgroup', 'utf8'))
    throw new Error('systemd --user needs root and groups of processes (/sys/fs/cgroup) here')
  for (const mount of mounts) mkdirSync(mount)
  try {
    const command = [
      '--mount',
      '--pid',
      '--fork',
      '--mount-proc',
      'bash',
      '-ec',
      `${PROLOGUE}${script}`,
      '-',
      ...mounts,
    ]
    const { status, stdout, stderr, error } = spawnSync('unshare', command, {
      ...{ encoding: 'utf8', timeout: 200_000 },
      env: { PATH: process.env.PATH ?? '', ...env },
    })
    if (status !== 0) throw new Error(`${error?.message ?? ''}${stdout}${stderr}`)
    return stdout
  } finally {
    removeGroups(name)
  }
}
