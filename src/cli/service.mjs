// `commonplace service install|remove|status`: lets the system start the server with the user's session, and restart it after a crash.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT, TYPED, WORK } from './place.mjs'
import { fail } from './server.mjs'

const NAME = 'commonplace'
const LABEL = 'io.github.commonplace-memory'

/**
 * @typedef {object} Program
 * @property {string} node
 * @property {string} script
 * @property {string} data the folder of the data and the log
 * @property {string} port
 *
 * @typedef {object} Service
 * @property {string} file
 * @property {string} text of the file
 * @property {readonly (readonly string[])[]} install commands to run after writing the file
 * @property {readonly (readonly string[])[]} remove commands to run before deleting the file
 * @property {readonly (readonly string[])[]} [afterwards] commands to run after deleting the file
 * @property {readonly string[]} status
 * @property {string} log how to read the server's log
 * @property {boolean} isTried false if this was not tested on the system yet
 */

/** A word of a systemd unit: quoted, with `%` and `$` literal. @param {string} text */
const unitWord = (text) => `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`

/** @param {string} text */
const xml = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)

/** The log of systems without journald, which the server rotates itself. @param {string} data */
const logOf = (data) => join(data, `${NAME}.log`)

/** journald keeps the log and rotates it. @param {Program} program @param {string} home @returns {Service} */
function systemd({ node, script, data, port }, home) {
  const file = join(home, '.config', 'systemd', 'user', `${NAME}.service`)
  const text = `[Unit]
Description=Commonplace, a shared memory for AI agents
Documentation=https://github.com/commonplace-memory/commonplace

[Service]
ExecStart=${[node, script, 'start', '--port', port].map(unitWord).join(' ')}
Environment=${unitWord(`COMMONPLACE_DATA=${data}`)}
Restart=on-failure
RestartSec=5
SyslogIdentifier=${NAME}

[Install]
WantedBy=default.target
`
  const user = ['systemctl', '--user']
  return {
    file,
    text,
    install: [
      [...user, 'daemon-reload'],
      [...user, 'enable', '--now', NAME],
    ],
    remove: [[...user, 'disable', '--now', NAME]],
    afterwards: [[...user, 'daemon-reload']],
    status: [...user, 'status', '--no-pager', NAME],
    log: `journalctl --user --unit ${NAME} --follow`,
    isTried: true,
  }
}

/** @param {Program} program @param {string} home @returns {Service} */
function launchd({ node, script, data, port }, home) {
  const file = join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`)
  const log = logOf(data)
  const words = [node, script, 'start', '--port', port, '--log', log]
    .map((word) => `    <string>${xml(word)}</string>`)
    .join('\n')
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>COMMONPLACE_DATA</key>
    <string>${xml(data)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
</dict>
</plist>
`
  return {
    file,
    text,
    install: [['launchctl', 'load', '-w', file]],
    remove: [['launchctl', 'unload', '-w', file]],
    status: ['launchctl', 'list', LABEL],
    log: `tail -f "${log}"`,
    isTried: false,
  }
}

/** @param {Program} program @param {string} _ @returns {Service} */
function windowsTask({ node, script, data, port }, _) {
  const file = join(data, `${NAME}-task.xml`)
  const log = logOf(data)
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers>
    <LogonTrigger><Enabled>true</Enabled></LogonTrigger>
  </Triggers>
  <Settings>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>10</Count></RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>${xml(node)}</Command>
      <Arguments>${xml(`"${script}" start --port ${port} --log "${log}"`)}</Arguments>
      <WorkingDirectory>${xml(data)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`
  return {
    file,
    text,
    install: [
      ['schtasks', '/Create', '/TN', NAME, '/XML', file, '/F'],
      ['schtasks', '/Run', '/TN', NAME],
    ],
    remove: [['schtasks', '/Delete', '/TN', NAME, '/F']],
    status: ['schtasks', '/Query', '/TN', NAME],
    log,
    isTried: false,
  }
}

/** Returns the service of a system. @param {NodeJS.Platform} platform @param {Program} program @param {string} home @returns {Service} */
export function serviceOf(platform, program, home = homedir()) {
  if (platform === 'darwin') return launchd(program, home)
  return platform === 'win32' ? windowsTask(program, home) : systemd(program, home)
}

/** Describes this program; npx deletes its folder now and then, so a service cannot use it. */
function ownService(port = '8787') {
  const script = join(ROOT, 'src', 'cli', 'bin.mjs')
  if (/[\\/]_npx[\\/]/.test(script))
    fail('npx keeps this program in its cache. Install it first: npm install --global commonplace-mcp')
  return serviceOf(process.platform, { node: process.execPath, script, data: WORK, port })
}

/** @param {readonly string[]} words */
function run([command = '', ...args]) {
  const { status, stderr, stdout, error } = spawnSync(command, args, { encoding: 'utf8' })
  return { ok: status === 0, said: (error?.message ?? `${stdout}${stderr}`).trim() }
}

/** @param {{ port?: string, print?: boolean, json?: boolean }} options */
export async function install({ port, print, json }) {
  if (port !== undefined && !/^\d{1,5}$/.test(port)) fail(`--port is "${port}"; it must be a number from 1 to 65535.`)
  const service = ownService(port)
  if (print) return console.log(json ? JSON.stringify(service, null, 2) : service.text)
  mkdirSync(dirname(service.file), { recursive: true })
  writeFileSync(service.file, service.text)
  for (const words of service.install) {
    const { ok, said } = run(words)
    if (!ok) fail(`${service.file} is written, but "${words.join(' ')}" failed: ${said}`)
  }
  if (json) return console.log(JSON.stringify({ file: service.file, installed: true }, null, 2))
  console.log(`The server runs as a service, now and whenever you log in (${service.file}).`)
  console.log(`Log: ${service.log}\nRemove it: ${TYPED.command} service remove`)
  if (!service.isTried) console.error('This has not been tested on your system yet. Please report the result.')
}

/** @param {{ json?: boolean }} options */
export async function remove({ json }) {
  const service = ownService()
  const was = existsSync(service.file)
  /** @param {readonly (readonly string[])[]} commands */
  const runAll = (commands) => {
    for (const words of commands) {
      const { ok, said } = run(words)
      if (!ok) console.error(`"${words.join(' ')}" failed: ${said}`)
    }
  }
  if (was) {
    runAll(service.remove)
    rmSync(service.file, { force: true })
    runAll(service.afterwards ?? [])
  }
  if (json) return console.log(JSON.stringify({ file: service.file, removed: was }, null, 2))
  console.log(was ? 'Removed the service. The data was not deleted.' : 'No service is installed.')
}

/** @param {{ json?: boolean }} options */
export async function status({ json }) {
  const service = ownService()
  const installed = existsSync(service.file)
  const { ok, said } = installed ? run(service.status) : { ok: false, said: '' }
  if (json) console.log(JSON.stringify({ file: service.file, installed, running: ok }, null, 2))
  else console.log(installed ? said : `No service is installed. Install it: ${TYPED.command} service install`)
  if (!ok) process.exitCode = 1
}
