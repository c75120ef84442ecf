// Compiled only to build the precompiled header of what the runtime and all above it include.
