"""Recordings, their store, and the engines that write them down."""
