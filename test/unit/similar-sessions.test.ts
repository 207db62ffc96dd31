import { expect, it } from 'vitest'
import { groupSimilar } from '../../src/domain/capture/review'

const session = (title: string, words: string, project: string | null = 'ferry') => ({
  title,
  project,
  preview: `Claude Code in ${project}.\n\nAsked:\n- ${words}`,
})

it('lists sessions of one project together that share most of their words, in the order of the first of each group', () => {
  const light = session('Fix the harbour light', 'the harbour light blinks twice after every tide')
  const again = session('Fix the harbour light', 'the harbour light blinks twice after each tide')
  const wall = session('Repaint the wall', 'use the white paint of the quay')
  const elsewhere = { ...light, project: 'quay' }
  expect(groupSimilar([light, wall, again, elsewhere])).toEqual([[light, again], [wall], [elsewhere]])
})

it('compares languages without spaces by their characters', () => {
  const one = session('港の灯台を直す', '港の灯台が潮のあとに二回点滅する')
  const other = session('港の灯台を直す', '港の灯台が潮のあとに三回点滅する')
  const third = session('壁を塗る', '白いペンキを使う')
  expect(groupSimilar([one, third, other])).toEqual([[one, other], [third]])
})

it('keeps sessions without words apart from sessions with words', () => {
  const empty = { title: null, project: null, preview: '' }
  const full = session('Fix the light', 'a light', null)
  expect(groupSimilar([empty, full])).toEqual([[empty], [full]])
})
