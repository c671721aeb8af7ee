/* HDF5, loaded when the first .pam5 file is written. Linking with it would double the start time of every command, as
 * its libraries include an HTTP client with TLS. After this header HDF5's names are those of the loaded library: call
 * hot_hdf5_load first. */
#pragma once

#include <hdf5.h>

#include <hotfiber/context.h>

#define HOT_HDF5_FUNCTIONS(X)                                                                                         \
    X(H5Aclose) X(H5Acreate2) X(H5Awrite) X(H5Dclose) X(H5Dcreate2) X(H5Dwrite) X(H5Eget_auto2) X(H5Eset_auto2)       \
    X(H5Fclose) X(H5Fcreate) X(H5Fflush) X(H5Fget_file_image) X(H5Gclose) X(H5Gcreate2) X(H5Pclose) X(H5Pcreate)      \
    X(H5Pset_chunk) X(H5Pset_deflate) X(H5Pset_fapl_core) X(H5Sclose) X(H5Screate) X(H5Screate_simple)                \
    X(H5Sselect_hyperslab) X(H5Tclose) X(H5Tcopy) X(H5Tset_cset) X(H5Tset_size) X(H5check_version) X(H5open)
/* Numbers of types and classes: H5T_C_S1 is a macro that names H5T_C_S1_g. */
#define HOT_HDF5_NUMBERS(X)                                                                                           \
    X(H5P_CLS_DATASET_CREATE_ID_g) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5T_C_S1_g) X(H5T_IEEE_F32LE_g) X(H5T_IEEE_F64LE_g)  \
    X(H5T_NATIVE_DOUBLE_g) X(H5T_NATIVE_FLOAT_g) X(H5T_NATIVE_INT32_g) X(H5T_STD_I32LE_g)

#define HOT_HDF5_MEMBER(name) __typeof__(name) *name;
typedef struct hot_hdf5 {
    HOT_HDF5_FUNCTIONS(HOT_HDF5_MEMBER)
    HOT_HDF5_NUMBERS(HOT_HDF5_MEMBER)
} hot_hdf5;
#undef HOT_HDF5_MEMBER
extern hot_hdf5 hot_hdf5_loaded;

/* HOT_ERROR_FILE if it cannot be loaded, for example because it was removed. */
hot_status hot_hdf5_load(hot_context *context);

#ifndef HOT_HDF5_NAMES_ALONE /* hdf5_library.c: they are names of members there */
#define H5Aclose (hot_hdf5_loaded.H5Aclose)
#define H5Acreate2 (hot_hdf5_loaded.H5Acreate2)
#define H5Awrite (hot_hdf5_loaded.H5Awrite)
#define H5Dclose (hot_hdf5_loaded.H5Dclose)
#define H5Dcreate2 (hot_hdf5_loaded.H5Dcreate2)
#define H5Dwrite (hot_hdf5_loaded.H5Dwrite)
#define H5Eget_auto2 (hot_hdf5_loaded.H5Eget_auto2)
#define H5Eset_auto2 (hot_hdf5_loaded.H5Eset_auto2)
#define H5Fclose (hot_hdf5_loaded.H5Fclose)
#define H5Fcreate (hot_hdf5_loaded.H5Fcreate)
#define H5Fflush (hot_hdf5_loaded.H5Fflush)
#define H5Fget_file_image (hot_hdf5_loaded.H5Fget_file_image)
#define H5Gclose (hot_hdf5_loaded.H5Gclose)
#define H5Gcreate2 (hot_hdf5_loaded.H5Gcreate2)
#define H5Pclose (hot_hdf5_loaded.H5Pclose)
#define H5Pcreate (hot_hdf5_loaded.H5Pcreate)
#define H5Pset_chunk (hot_hdf5_loaded.H5Pset_chunk)
#define H5Pset_deflate (hot_hdf5_loaded.H5Pset_deflate)
#define H5Pset_fapl_core (hot_hdf5_loaded.H5Pset_fapl_core)
#define H5Sclose (hot_hdf5_loaded.H5Sclose)
#define H5Screate (hot_hdf5_loaded.H5Screate)
#define H5Screate_simple (hot_hdf5_loaded.H5Screate_simple)
#define H5Sselect_hyperslab (hot_hdf5_loaded.H5Sselect_hyperslab)
#define H5Tclose (hot_hdf5_loaded.H5Tclose)
#define H5Tcopy (hot_hdf5_loaded.H5Tcopy)
#define H5Tset_cset (hot_hdf5_loaded.H5Tset_cset)
#define H5Tset_size (hot_hdf5_loaded.H5Tset_size)
#define H5check_version (hot_hdf5_loaded.H5check_version)
#define H5open (hot_hdf5_loaded.H5open)
#define H5P_CLS_DATASET_CREATE_ID_g (*hot_hdf5_loaded.H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_FILE_ACCESS_ID_g (*hot_hdf5_loaded.H5P_CLS_FILE_ACCESS_ID_g)
#define H5T_C_S1_g (*hot_hdf5_loaded.H5T_C_S1_g)
#define H5T_IEEE_F32LE_g (*hot_hdf5_loaded.H5T_IEEE_F32LE_g)
#define H5T_IEEE_F64LE_g (*hot_hdf5_loaded.H5T_IEEE_F64LE_g)
#define H5T_NATIVE_DOUBLE_g (*hot_hdf5_loaded.H5T_NATIVE_DOUBLE_g)
#define H5T_NATIVE_FLOAT_g (*hot_hdf5_loaded.H5T_NATIVE_FLOAT_g)
#define H5T_NATIVE_INT32_g (*hot_hdf5_loaded.H5T_NATIVE_INT32_g)
#define H5T_STD_I32LE_g (*hot_hdf5_loaded.H5T_STD_I32LE_g)
#endif
