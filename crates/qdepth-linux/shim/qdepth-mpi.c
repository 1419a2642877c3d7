/* The few calls of MPI that qdepth needs, behind functions on plain bytes: what an MPI's handles and
 * constants are is known to its own mpicc alone, which compiles this once on each site
 * (`qdepth host mpi`). All of it is called by one thread. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define TAG 29

struct sending {
    MPI_Request request;
    struct sending *next;
    char bytes[];
};

static struct sending *pending;

int qdepth_mpi_init(void) {
    int given;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS) return -1;
    /* A rank that dies must not take this one with it. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return given < MPI_THREAD_FUNNELED ? -1 : 0;
}

int qdepth_mpi_rank(void) {
    int rank;
    return MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS ? rank : -1;
}

int qdepth_mpi_size(void) {
    int size;
    return MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS ? size : -1;
}

/* Frees what was sent; 0, or -1 where a send failed. */
static int progress(void) {
    int answer = 0;
    for (struct sending **at = &pending; *at;) {
        int done = 0;
        struct sending *one = *at;
        if (MPI_Test(&one->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) answer = -1, done = 1;
        if (done) {
            *at = one->next;
            free(one);
        } else {
            at = &one->next;
        }
    }
    return answer;
}

int qdepth_mpi_send(int to, const void *bytes, int length) {
    struct sending *one = malloc(sizeof *one + (size_t)length);
    if (!one) return -1;
    memcpy(one->bytes, bytes, (size_t)length);
    if (MPI_Isend(one->bytes, length, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &one->request) != MPI_SUCCESS) {
        free(one);
        return -1;
    }
    one->next = pending;
    pending = one;
    return progress();
}

/* Bytes of the next message of a rank; -1 where there is none, -2 on failure. */
int qdepth_mpi_probe(int from) {
    int there = 0, length;
    MPI_Status status;
    progress();
    if (MPI_Iprobe(from, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS) return -2;
    if (!there) return -1;
    return MPI_Get_count(&status, MPI_BYTE, &length) == MPI_SUCCESS ? length : -2;
}

int qdepth_mpi_receive(int from, void *bytes, int length) {
    int answer = MPI_Recv(bytes, length, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return answer == MPI_SUCCESS ? 0 : -1;
}

int qdepth_mpi_finalize(void) {
    while (pending && progress() == 0) {}
    return MPI_Finalize() == MPI_SUCCESS ? 0 : -1;
}
