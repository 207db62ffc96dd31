import { expect, it } from 'vitest'
import { Problem } from '../../src/domain/errors'
import { admit } from '../../src/http/admission'
import type { Credential } from '../../src/http/auth'

/** Order of the checks of a request: who sends it, and whether that key is within its limits. */
function door(keyId: string) {
  const said: string[] = []
  const work: Promise<unknown>[] = []
  const credential = { kind: 'principal', principal: { keyId } } as Credential
  const limiter = {
    enter: async (key: string) => {
      said.push(`gate ${key}`)
      return { admitted: true, leave: async () => void said.push(`left ${key}`) } as const
    },
  }
  const afterwards = (promise: Promise<unknown>) => void work.push(promise)
  const ask = (authorization: string, authenticate: () => Promise<Credential> = async () => credential) =>
    admit({ limiter, afterwards, authorization }, async () => {
      await Promise.resolve()
      said.push('identity')
      return authenticate()
    })
  return { said, ask, settled: () => Promise.all(work), credential }
}

it('checks identity and limits in parallel, for a key that the isolate knows', async () => {
  const { said, ask, credential } = door('key_side')
  await ask('Bearer side')
  expect(said.splice(0)).toEqual(['identity', 'gate key_side'])
  expect(await ask('Bearer side')).toMatchObject({ credential, admission: { admitted: true } })
  expect(said).toEqual(['gate key_side', 'identity'])
})

it('refuses a key that was revoked since, takes its request off the gate, and forgets it', async () => {
  const { said, ask, settled } = door('key_gone')
  await ask('Bearer gone')
  said.length = 0
  const revoked = () => Promise.reject(new Problem('unauthorized', 'revoked'))
  await expect(ask('Bearer gone', revoked)).rejects.toThrow('revoked')
  await settled()
  expect(said).toEqual(['gate key_gone', 'identity', 'left key_gone'])
  await expect(ask('Bearer gone', revoked)).rejects.toThrow('revoked')
  expect(said.slice(3)).toEqual(['identity'])
})
