/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Maps the memory file named by the argument, and reads packets from standard input, each after its port, its length
 * and random numbers (`u32`). Answers each with 1 if it leaves or 0, its port, its length and its bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    int file = argc == 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
    struct stat about;
    u32 head[2];

    if (file < 0 || fstat(file, &about))
        return 1;
    memory = mmap(NULL, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED || shm_u64(memory, 0) != SHM_VERSION)
        return 1;
    while (fread(head, sizeof(head), 1, stdin) == 1 && head[1] <= LONGEST) {
        u32 answer[3];

        current.in_port = head[0];
        current.drawn = turns = 0;
        current.data = current.bytes + HEADROOM;
        current.data_end = current.data + head[1];
        /* Kills a program that does not end. */
        alarm(60);
        if (fread(current.random, sizeof(current.random), 1, stdin) != 1 || fread(current.data, 1, head[1], stdin) != head[1])
            return 1;
        shm_begin(memory, this_processor());
        directory = shm_directory(memory);
        answer[0] = stage_0(&current);
        shm_end(memory, this_processor());
        alarm(0);
        answer[1] = current.out_port;
        answer[2] = answer[0] ? current.data_end - current.data : 0;
        fwrite(answer, sizeof(answer), 1, stdout);
        fwrite(current.data, 1, answer[2], stdout);
        if (fflush(stdout))
            return 1;
    }
    return 0;
}
