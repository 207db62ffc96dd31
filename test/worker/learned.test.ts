import { learnedContract } from '../contracts/learned'

learnedContract()
