import { beforeAll } from 'vitest'
import { createR2ImageStore } from '../../src/adapters/r2/image-store'
import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import { auditContract } from '../contracts/audit'
import { capturedEntriesContract } from '../contracts/captured-entries'
import { changeFeedContract } from '../contracts/change-feed'
import { changesContract } from '../contracts/changes'
import { currentContract } from '../contracts/current'
import { directoryContract } from '../contracts/directory'
import { endedSessionsContract } from '../contracts/ended-sessions'
import { entryLifeContract } from '../contracts/entry-life'
import { entrySizesContract } from '../contracts/entry-sizes'
import { entryStoreContract } from '../contracts/entry-store'
import { entryTextsContract } from '../contracts/entry-texts'
import { erasingContract } from '../contracts/erasing'
import { foundAfterDeathContract } from '../contracts/found-after-death'
import { fullTextContract } from '../contracts/full-text'
import { fullTextLanguagesContract } from '../contracts/full-text-languages'
import { historyStoreContract } from '../contracts/history-store'
import { identityContract } from '../contracts/identity'
import { imageStoreContract } from '../contracts/image-store'
import { largeDeletesContract } from '../contracts/large-deletes'
import { longTextsContract } from '../contracts/long-texts'
import { lostAnswersContract } from '../contracts/lost-answers'
import { packCostsContract } from '../contracts/pack-costs'
import { projectDirectoryContract } from '../contracts/project-directory'
import { quotaContract } from '../contracts/quotas'
import { recallContract } from '../contracts/recall'
import { recallWordsContract } from '../contracts/recall-words'
import { restoringContract } from '../contracts/restoring'
import { statisticsContract } from '../contracts/statistics'
import { storeOverviewContract } from '../contracts/store-overview'
import { summarizeContract } from '../contracts/summarize'
import { textsAheadContract } from '../contracts/texts-ahead'
import { visibilityContract } from '../contracts/visibility'
import { bindings, d1Adapters, migrate } from '../support/bindings'
import { TestClock } from '../support/scope'

beforeAll(migrate)

const make = () => {
  const clock = new TestClock()
  return { ...d1Adapters(clock), clock }
}

changesContract('D1', make)

capturedEntriesContract('D1', make)

historyStoreContract('D1', make)

erasingContract('D1', make)

restoringContract('D1', make)

lostAnswersContract('D1', () => ({ vars: {}, bindings }))

foundAfterDeathContract('D1', () => ({ vars: {}, bindings }))

largeDeletesContract('D1', make)

changeFeedContract('D1', make)

entryLifeContract('D1', make)

entrySizesContract('D1', make)

visibilityContract('D1', make)

statisticsContract('D1', make)

recallWordsContract('D1', make)
directoryContract('D1', make)
storeOverviewContract('D1', make)

currentContract('D1', () => ({ ...make(), index: createObjectVectorIndex(bindings.VECTORS) }))

summarizeContract('D1', () => ({ ...make(), index: createObjectVectorIndex(bindings.VECTORS) }))

recallContract('D1', () => ({ ...make(), index: createObjectVectorIndex(bindings.VECTORS) }))

packCostsContract('D1', () => ({ ...make(), index: createObjectVectorIndex(bindings.VECTORS) }), true)

longTextsContract('D1', () => make())

textsAheadContract('D1', () => make())
quotaContract('D1', make)

entryStoreContract('D1', () => {
  const { entries, clock, connection } = make()
  return { store: entries, clock, connection }
})

entryTextsContract('D1', make)

fullTextContract('FTS5', make)

fullTextLanguagesContract('FTS5', (language) => d1Adapters(new TestClock(), bindings.DB, language))

auditContract('D1', make)
identityContract('D1', make)
projectDirectoryContract('D1', make)
endedSessionsContract('D1', make)

imageStoreContract('R2', () => createR2ImageStore(bindings.IMAGES))
