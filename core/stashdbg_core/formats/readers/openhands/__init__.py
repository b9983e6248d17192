"""OpenHands: conversations of V1, histories of V0, outputs of evaluations."""
