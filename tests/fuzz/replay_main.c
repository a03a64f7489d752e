/* Runs a fuzz target over kept inputs, for compilers without libFuzzer: every file of the folders
 * given, and the empty input. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define INPUT_SIZE_MAX (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *folder, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return -1;
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return -1;
    }
    /* Exactly as large as the input, so that a read past its end is seen. */
    uint8_t *buffer = malloc(INPUT_SIZE_MAX);
    size_t size = buffer ? fread(buffer, 1, INPUT_SIZE_MAX, file) : 0;
    fclose(file);
    uint8_t *input = buffer ? realloc(buffer, size ? size : 1) : NULL;
    if (!input) {
        free(buffer);
        return -1;
    }
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(input, size);
    free(input);
    return 0;
}

static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        perror(folder);
        return -1;
    }
    int status = 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        if (entry->d_name[0] != '.' && replay_file(folder, entry->d_name))
            status = -1;
    closedir(dir);
    return status;
}

int main(int argc, char **argv)
{
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    int status = 0;
    for (int i = 1; i < argc; i++)
        if (replay_folder(argv[i]))
            status = 1;
    return status;
}
