import { describe } from 'vitest'
import { hookFaults } from '../../contracts/hook-faults'

describe('the hook program, ended at each of its steps', () => hookFaults(1))
