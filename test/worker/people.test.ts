import { peopleContract } from '../contracts/people'

peopleContract()
