import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './build'

/** Parses a Dockerfile, and runs its steps without docker: a folder replaces the root of each stage. */
export interface Instruction {
  readonly name: string
  readonly text: string
}

export function readDockerfile(): readonly Instruction[] {
  return readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
      return { name, text }
    })
}

/** Names and `*.ending` patterns in `.dockerignore`. */
const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
const isIgnored = (path: string): boolean =>
  ignored.some((rule) => (rule.startsWith('*.') ? path.endsWith(rule.slice(1)) : path.split('/')[0] === rule))

/** Files of a build: those that git tracks or would add. */
const contextFiles = (): string[] =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && !isIgnored(path))

export interface Image {
  readonly root: string
  readonly workdir: string
  readonly environment: Readonly<Record<string, string>>
  readonly user: string
  /** ENTRYPOINT and CMD. */
  readonly command: readonly string[]
  /** From HEALTHCHECK. */
  readonly healthCheck: readonly string[]
}

const array = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')))

/** Runs the steps of the Dockerfile in a folder, with the `node` and `npm` of this machine. */
export async function buildImage(folder: string): Promise<Image> {
  const stages = new Map<string, string>()
  let [root, workdir, user] = ['', '/', 'root']
  let environment: Record<string, string> = {}
  let [entry, command, healthCheck]: [string[], string[], string[]] = [[], [], []]
  const inStage = (path: string): string => (path.startsWith('/') ? join(root, path) : join(root, workdir, path))
  for (const { name, text } of readDockerfile()) {
    const words = text.split(/\s+/)
    if (name === 'FROM') {
      const stage = words[1] === 'AS' ? (words[2] ?? '') : `stage-${stages.size}`
      ;[root, workdir, user, environment] = [join(folder, stage), '/', 'root', {}]
      stages.set(stage, root)
      mkdirSync(root, { recursive: true })
    } else if (name === 'WORKDIR') {
      workdir = text
      mkdirSync(inStage('.'), { recursive: true })
    } else if (name === 'COPY') {
      const from = words.find((word) => word.startsWith('--from='))?.slice(7)
      const [source = '', target = ''] = words.filter((word) => !word.startsWith('--'))
      if (from === undefined)
        for (const file of contextFiles()) {
          mkdirSync(dirname(join(inStage(target), file)), { recursive: true })
          cpSync(join(ROOT, file), join(inStage(target), file))
        }
      else {
        const path = join(stages.get(from) ?? '', source)
        const isFile = /\.[a-z]+$/.test(source)
        cpSync(path, isFile ? join(inStage(target), source.split('/').at(-1) ?? '') : inStage(target), {
          recursive: true,
        })
      }
    } else if (name === 'RUN') await run(text, inStage('.'))
    else if (name === 'ENV') {
      const [variable = '', value = ''] = text.split('=')
      environment[variable] = value.startsWith('/') ? join(root, value) : value
    } else if (name === 'USER') user = text
    else if (name === 'ENTRYPOINT') entry = array(text)
    else if (name === 'CMD') command = array(text)
    else if (name === 'HEALTHCHECK') healthCheck = array(text)
  }
  return { root, workdir: join(root, workdir), environment, user, command: [...entry, ...command], healthCheck }
}

/** Only root can change the owner of files. */
const run = (command: string, cwd: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const text = process.getuid?.() === 0 ? command : command.replaceAll(/chown \S+ \S+/g, 'true')
    const child = spawn('sh', ['-e', '-c', text], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString()
      })
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`RUN ${command}:\n${said}`))))
  })
