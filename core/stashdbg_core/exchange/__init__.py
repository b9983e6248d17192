"""HTTP exchanges as recorded calls: what they are called, how a response is stored, what a streamed one spelled."""
