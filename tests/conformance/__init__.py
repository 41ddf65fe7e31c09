"""What every engine must do alike: values that have broken some engine, ways to hold them, and a slow twin."""
