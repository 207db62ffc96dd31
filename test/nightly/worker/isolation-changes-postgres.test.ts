// On PostgreSQL, which the contract finds by its binding.
import './isolation-changes.test?postgres'
