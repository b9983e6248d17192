"""What keys do on the main screen, by theme: each module adds the actions of one theme to the screen before it."""
