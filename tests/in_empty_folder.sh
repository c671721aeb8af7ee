# in_empty_folder.sh FOLDER COMMAND...: runs a test in FOLDER, emptied of what an earlier run left there.
folder=$1
shift
case $folder in
*/scratch_*) rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" && exec "$@" ;;
*) echo "not a scratch folder: $folder" && exit 1 ;;
esac
