import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { workingTree } from '../../src/cli/check/tree.mjs'
import { runGit, topOf } from '../../src/cli/git.mjs'
import { listFiles } from '../../src/cli/index/files.mjs'

/** A repository whose configuration and files a stranger made (operate contract §1.4). */
describe('git in a repository of a stranger', () => {
  const home = mkdtempSync(join(tmpdir(), 'commonplace-git-'))
  const folder = join(home, 'work')
  const proof = join(home, 'ran')
  const program = join(home, 'program.sh')
  const git = (at: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: at, encoding: 'utf8' })

  beforeAll(() => {
    mkdirSync(folder)
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${proof}\nexit 1\n`)
    chmodSync(program, 0o755)
    writeFileSync(join(home, 'outside.txt'), 'a secret of the user\n')
    git(folder, 'init', '-q')
    writeFileSync(join(folder, 'a.txt'), 'one\n')
    mkdirSync(join(folder, 'docs'))
    symlinkSync('../../outside.txt', join(folder, 'docs', 'link.txt'))
    symlinkSync('../..', join(folder, 'docs', 'up'))
    symlinkSync('/dev/zero', join(folder, 'docs', 'zero.txt'))
    symlinkSync('a.txt', join(folder, 'same.txt'))
    git(folder, 'add', '.')
    git(folder, 'commit', '-qm', 'first')
    for (const name of ['core.fsmonitor', 'gpg.program', 'filter.x.clean', 'filter.x.process', 'filter.y=z.clean'])
      git(folder, 'config', name, program)
    git(folder, 'config', 'filter.x.required', 'true')
    git(folder, 'config', 'log.showSignature', 'true')
    git(folder, 'config', 'core.worktree', home)
    mkdirSync(join(folder, '.git', 'hooks'), { recursive: true })
    writeFileSync(join(folder, '.git', 'hooks', 'post-index-change'), `#!/bin/sh\n${program}\n`)
    chmodSync(join(folder, '.git', 'hooks', 'post-index-change'), 0o755)
    writeFileSync(join(folder, '.git', 'info', 'attributes'), '*.txt filter=x\nz* filter=y=z\n')
    // Git compares a file whose times differ with its object, and runs its filter for that.
    utimesSync(join(folder, 'a.txt'), 1, 1)
  })
  afterAll(() => rmSync(home, { recursive: true }))

  it('[OPERATE-220] runs no program that the configuration, a hook or a filter of the repository names', () => {
    const tree = workingTree(folder)
    expect(tree.successors('b.txt')).toEqual([])
    expect(tree.changedAt('a.txt')).toMatch(/^\d{4}-/)
    expect(tree.textAt('HEAD', 'a.txt')).toBe('one\n')
    expect(runGit(folder, ['log', '--name-only', '--format=%s'])).toEqual({ text: expect.stringMatching(/^first\n/) })
    expect(listFiles(folder).files).toEqual(['a.txt'])
    expect(existsSync(proof)).toBe(false)
  })

  it('[OPERATE-220] runs none where the folder looks like a bare repository, or where an object would have to be fetched', () => {
    const outer = join(home, 'outer')
    mkdirSync(outer)
    git(outer, 'init', '-q')
    git(outer, 'init', '-q', '--bare', 'inner')
    for (const [name, value] of [
      ['core.bare', 'false'],
      ['core.worktree', '..'],
      ['core.fsmonitor', program],
    ] as const)
      git(join(outer, 'inner'), 'config', name, value)
    listFiles(join(outer, 'inner'))
    expect(runGit(join(outer, 'inner'), ['status'])).toEqual({ problem: expect.stringContaining('bare repository') })

    const partial = join(home, 'partial')
    git(folder, 'config', '--unset', 'core.worktree')
    git(folder, 'config', 'uploadpack.allowFilter', 'true')
    git(home, 'clone', '-q', '--filter=blob:none', '--no-checkout', `file://${folder}`, partial)
    git(folder, 'config', 'core.worktree', home)
    git(partial, 'config', 'remote.origin.uploadpack', program)
    expect(runGit(partial, ['cat-file', 'blob', 'HEAD:a.txt'])).toHaveProperty('problem')
    expect(existsSync(proof)).toBe(false)
  })

  it('[OPERATE-221] reads files of the work tree alone: none behind a link that leads out of it, and no device', () => {
    expect(topOf(join(folder, 'docs'))).toBe(folder)
    const tree = workingTree(folder)
    expect(tree.textOf('same.txt')).toBe('one\n')
    for (const path of ['docs/link.txt', 'docs/up/outside.txt', 'docs/zero.txt', 'outside.txt'])
      expect(tree.textOf(path)).toBeNull()
  })
})
