import { describe, expect, it } from 'vitest'
import { Markdown } from '../../src/http/dashboard/parts/markdown'

const shown = (text: string): string => String(Markdown({ text }))

describe('a stored text on a page', () => {
  it('has the shapes of Markdown', () => {
    expect(
      shown('# Head\nOne *two* **three** `four`\n\n- a\n- b\n\n3. c\n\n> d\n> e\n\n```ts\nlet f = "<"\ng\n```'),
    ).toBe(
      '<div class="prose" dir="auto"><p class="heading">Head</p><p>One <em>two</em> <strong>three</strong> ' +
        '<code>four</code></p><ul><li><p>a</p></li><li><p>b</p></li></ul><ol start="3"><li><p>c</p></li></ol>' +
        '<blockquote><p>d\ne</p></blockquote><pre tabindex="0">let f = &quot;&lt;&quot;\ng</pre></div>',
    )
    expect(shown('| a | b |\n|---|---|\n| 1 | 2 |')).toMatch(/<table><tr><td>a<\/td><td>b<\/td><\/tr><tr><td>1/)
  })

  it('keeps every character that it has no shape for', () => {
    for (const text of [
      'a < b & c > d',
      '<b>bold</b>',
      '&amp;',
      '![alt](https://x.example/y.png)',
      '[a]: http://b',
      '[x]',
    ])
      expect(shown(text).replaceAll(/<\/?(div|p|a|pre)\b[^>]*>/g, '')).toBe(
        text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
      )
  })

  it('links to the web alone, and shows where', () => {
    expect(shown('[here](https://x.example/?a=1&b=2)')).toContain(
      '<a href="https://x.example/?a=1&amp;b=2" title="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow">here</a>',
    )
    expect(shown('see https://x.example/y')).toContain('>https://x.example/y</a>')
    for (const text of [
      '[a](javascript:alert(1))',
      '[a](data:text/html,x)',
      '[a](/logout)',
      '<javascript:alert(1)>',
      '[a](//x)',
    ])
      expect([text, shown(text)]).toEqual([text, expect.not.stringContaining('<a ')])
  })

  it('renders markup of a text as text, in every position', () => {
    const evil = '<img src=x onerror=alert(1)>'
    for (const text of [
      evil,
      `# ${evil}`,
      `- ${evil}`,
      `> ${evil}`,
      `\`${evil}\``,
      `\`\`\`${evil}\n${evil}\n\`\`\``,
      `[${evil}](https://x.example "${evil}")`,
      `[a](https://x.example/"onclick="alert(1))`,
      `| ${evil} |\n|---|\n| ${evil} |`,
      `**${evil}**`,
      `<https://x.example/${evil}>`,
    ])
      expect([text, shown(text)]).toEqual([text, expect.not.stringMatching(/<img|<[^>]*"onclick/)])
  })

  it('shows a long text unchanged, and a deeply nested one in time', () => {
    expect(shown('word '.repeat(3_000))).toMatch(/^<pre class="text" tabindex="0">/)
    // One direction for the complete text: detecting that of each line takes a browser half a minute.
    expect(shown('word '.repeat(30_000))).toMatch(/^<pre class="text" tabindex="0" dir="auto" data-long="">word /)
    expect(shown(`${'>'.repeat(2_900)} x`)).toContain('x')
    expect(shown(`${'- '.repeat(1_400)} x`)).toContain('x')
    expect(shown(`${'['.repeat(2_900)} x`)).toContain('[[[')
    expect(shown('*a '.repeat(900))).toContain('*a')
  })
})
