import { whyContract } from '../contracts/why'

whyContract()
