import { expect, it } from 'vitest'
import { readServeArguments } from '../../scripts/serve/arguments.mjs'

const read = (...args: string[]) => readServeArguments(args, { root: '/checkout' })

it('takes what wrangler dev is started with by habit, where it changes nothing here', () => {
  const plain = read()
  expect(read('--local', '--log-level', 'debug', '--inspector-port', '0')).toEqual(plain)
  expect(plain).toMatchObject({ port: 8787, ip: 'localhost', inspectorPort: undefined })
  expect(read('--port=9000', '--inspector-port', '9229', '--local')).toMatchObject({ port: 9000, inspectorPort: 9229 })
  expect(() => read('--remote')).toThrow(/^Unknown option '--remote'; npm start takes --port N/)
})
