import { describe, expect, it } from 'vitest'
import { createCodeParser } from '../../src/adapters/code/parser'
import { languageOf } from '../../src/domain/code/languages'
import { realSymbols } from '../contracts/real-symbols'

const parser = createCodeParser()

// More in the nightly tier.
realSymbols({ files: 80, python: 30 })

describe('symbols', () => {
  const told = async (path: string, text: string) =>
    (await parser.symbols({ path, language: languageOf(path), text })).map(
      ({ name, kind, lineStart, lineEnd }) => `${kind} ${name} ${lineStart}-${lineEnd}`,
    )

  it('have the comment above their decorators, before `export` too, and end before the next comment', async () => {
    const shapes = ['export class A {', 'export default class A {', 'export abstract class A {', 'class A {']
    for (const path of ['a.ts', 'a.js'])
      for (const shape of shapes.filter((one) => path === 'a.ts' || !one.includes('abstract')))
        for (const decorators of ['@Injectable()\n', '@One() @Two({ a: 1 })\n// why\n@Three\n']) {
          const text = `/** Before */\nclass Z {}\n\n/**\n * Doc\n */\n${decorators}${shape}\n}\n`
          const symbols = await parser.symbols({ path, language: languageOf(path), text })
          const lineStart = 6 + decorators.split('\n').length
          expect([path, shape, symbols[1]]).toEqual([
            ...[path, shape],
            { name: 'A', kind: 'class', signature: shape, lineStart, lineEnd: lineStart + 1, docComment: 'Doc' },
          ])
        }
    for (const path of ['a.ts', 'a.js'])
      for (const one of [
        'const f = () => {\n}',
        'export const f = () =>\n  1',
        'export default () => {\n}',
        'class C {\n}',
      ]) {
        const text = `${one}\n/** x */ export class B {}\n`
        const symbols = await parser.symbols({ path, language: languageOf(path), text })
        const ends = symbols.map(({ lineStart, lineEnd }) => [lineStart, lineEnd])
        expect([path, one, ends]).toEqual([
          ...[path, one],
          [
            [1, 2],
            [3, 3],
          ],
        ])
      }
    expect(await told('a.ts', 'type A =\n  string\n/** x */ export class B {}\n')).toEqual([
      'type A 1-2',
      'class B 3-3',
    ])
    expect(await told('a.ts', 'class C {\n  a = () => {}\n  /** x */ b() {}\n}\n')).toEqual([
      ...['class C 1-4', 'method a 2-2', 'method b 3-3'],
    ])
  })

  it('[FABRIC-130] finds symbols in Rust, Go, Java, C++, C# and Ruby', async () => {
    expect(
      await told(
        'a.rs',
        '#[derive(Debug)]\npub struct A {\n  x: i32,\n}\nimpl A {\n  pub fn new() -> A { A { x: 1 } }\n}\ntrait T { fn t(&self); }\npub use a::{b, c as d};\nstatic S: i32 = 1;\n',
      ),
    ).toEqual([
      'class A 2-4',
      'method new 6-6',
      'interface T 8-8',
      'method t 8-8',
      'export b 9-9',
      'export d 9-9',
      'const S 10-10',
    ])
    expect(
      await told(
        'a.go',
        'package a\n\ntype (\n\tS struct {\n\t\ta int\n\t}\n\tI interface{}\n)\n\nfunc (s *S) Do() {}\n\nfunc Run() {\n}\n\nconst Max = 1\ntype ID string\n',
      ),
    ).toEqual([
      'class S 4-6',
      'interface I 7-7',
      'method Do 10-10',
      'function Run 12-13',
      'const Max 15-15',
      'type ID 16-16',
    ])
    expect(
      await told('A.java', '@X\npublic class A {\n  @Override\n  public void run() {\n  }\n}\ninterface B {}\n'),
    ).toEqual(['class A 2-6', 'function run 4-5', 'class B 7-7'])
    expect(
      await told(
        'a.cpp',
        'template <class T>\nclass A {\n  int m() { return 1; }\n};\nint A::f(int x) {\n  return x;\n}\nint proto(int);\n',
      ),
    ).toEqual(['class A 1-4', 'function m 3-3', 'function f 5-7'])
    expect(
      await told(
        'a.cs',
        'namespace N {\n  public sealed class A : B {\n    private readonly int x = f();\n    public async Task<int> Run(string s) {\n      if (x) { }\n    }\n  }\n  public record R(int A);\n}\n',
      ),
    ).toEqual(['class A 2-7', 'function Run 4-6', 'class R 8-8'])
    expect(await told('b.py', '\ufeffdef first():\n    pass\n')).toEqual(['function first 1-2'])
    expect(await told('b.java', '\ufeffclass First {}\n')).toEqual(['class First 1-1'])
    expect(
      await told(
        'a.rb',
        'module M\n  class A\n    def run(x)\n      if x then y end\n    end\n\n    def self.make; end\n  end\nend\n',
      ),
    ).toEqual(['class M 1-9', 'class A 2-8', 'function run 3-5', 'function make 7-7'])
  })

  it('[FABRIC-130] finds symbols in text that is not a program within bounded work', async () => {
    for (const [path, part] of [
      ['a.ts', '} { ( ] x = <'],
      ['a.ts', '['],
      ['b.ts', '/*'],
      ['a.java', 'a<'],
      ['a.py', 'def x(:\n  (\n'],
      ['a.rs', 'fn (<a< }{'],
      ['a.go', 'func ( type {'],
      ['a.cpp', 'a<b(c<{'],
    ] as const) {
      const text = part.repeat(100_000 / part.length)
      expect((await parser.symbols({ path, language: languageOf(path), text })).length).toBeLessThanOrEqual(5000)
    }
  })
})
