import { historyRandomContract } from '../../contracts/endpoint/history-random'

historyRandomContract()
