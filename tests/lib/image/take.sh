# For the scripts that make an image: source this with $root, the folder that becomes its file system.

# take FILE...: programs with the libraries they need, at the places where they look for them.
take() {
    local file
    for file in "$@"; do
        cp -L --parents "$file" "$root"
        # A static program has none.
        ldd "$file" 2>/dev/null | grep -o '/[^ ]*' | xargs -r -I{} cp -nL --parents {} "$root" || true
    done
}
