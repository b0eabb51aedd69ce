"""What a method promises, tried; and second opinions of another back end."""
