// The same on PostgreSQL, which these tests find by its binding.
import './captured-gold.test'
