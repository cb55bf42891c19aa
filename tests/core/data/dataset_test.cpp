#include "core/data/dataset.hpp"

#include <gtest/gtest.h>

#include "tests/core/data/idx_bytes.hpp"
#include "tests/core/data/temporary_folder.hpp"

namespace p2p::core {
namespace {

const std::string train_images = "train-images-idx3-ubyte";
const std::string train_labels = "train-labels-idx1-ubyte";
const std::string test_images = "t10k-images-idx3-ubyte";
const std::string test_labels = "t10k-labels-idx1-ubyte";

/// Three images of 2 x 2 to train with, two to test with.
void write_small_set(const TemporaryFolder& folder) {
    const Bytes pixels{0, 255, 0, 255, 1, 2, 3, 4, 9, 9, 9, 9};
    folder.write(train_images, idx_bytes({3, 2, 2}, pixels));
    folder.write(train_labels + ".gz", gzipped(idx_bytes({3}, {0, 1, 1})));
    folder.write(test_images, idx_bytes({2, 2, 2}, {1, 1, 1, 1, 2, 2, 2, 2}));
    folder.write(test_labels, idx_bytes({2}, {2, 0}));
}

/// The set is refused, and the message has `part` in it and the folder's absolute path.
void expect_refused(const TemporaryFolder& folder, ErrorCode code, const std::string& part) {
    const auto result = load_dataset(folder.path());
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(code, result.error().code);
    const std::string text = result.error().text();
    EXPECT_NE(std::string::npos, text.find(part)) << text;
    EXPECT_NE(std::string::npos, text.find(std::filesystem::canonical(folder.path()).string()));
    EXPECT_FALSE(result.error().next.empty());
}

TEST(LoadDataset, ReadsPlainAndGzippedFilesOfOneFolder) {
    const TemporaryFolder folder;
    write_small_set(folder);
    const Dataset set = load_dataset(folder.path()).value();
    EXPECT_EQ(3U, set.train.count());
    EXPECT_EQ((Bytes{0, 1, 1}), set.train.labels);
    EXPECT_EQ((Samples{{1, 1, 1, 1, 2, 2, 2, 2}, {2, 0}}), set.test);
    EXPECT_EQ(4U, set.features);
    EXPECT_EQ(3U, set.classes);
    EXPECT_EQ(standardization_of(set.train.images), set.standardization);
}

TEST(LoadDataset, SaysWhichFileIsMissing) {
    for (const std::string& name : {train_images, test_images, test_labels}) {
        const TemporaryFolder folder;
        write_small_set(folder);
        std::filesystem::remove(folder.path(name));
        expect_refused(folder, ErrorCode::not_found, name);
    }
}

TEST(LoadDataset, SaysThatTheFolderIsMissing) {
    const auto result = load_dataset("/no/such/folder");
    EXPECT_EQ(ErrorCode::not_found, result.error().code);
    EXPECT_NE(std::string::npos, result.error().why.find("folder"));
}

TEST(LoadDataset, RefusesOtherThanOneLabelAnImage) {
    const TemporaryFolder folder;
    write_small_set(folder);
    folder.write(test_labels, idx_bytes({3}, {0, 1, 1}));
    expect_refused(folder, ErrorCode::wrong_size, "3 labels for the 2 images");
}

TEST(LoadDataset, RefusesLabelsWithDimensions) {
    const TemporaryFolder folder;
    write_small_set(folder);
    folder.write(test_labels, idx_bytes({2, 1}, {0, 1}));
    expect_refused(folder, ErrorCode::wrong_size, test_labels);
}

TEST(LoadDataset, RefusesTestImagesOfAnotherSize) {
    const TemporaryFolder folder;
    write_small_set(folder);
    folder.write(test_images, idx_bytes({2, 1, 3}, Bytes(6)));
    expect_refused(folder, ErrorCode::wrong_size, "3 pixels");
}

TEST(LoadDataset, NamesTheFileThatIsNoIdx) {
    const TemporaryFolder folder;
    write_small_set(folder);
    folder.write(train_images, to_bytes(as_bytes("not found")));
    expect_refused(folder, ErrorCode::malformed, train_images);
}

TEST(Standardization, HasTheMeanAndDeviationOfAllPixels) {
    const Standardization two = standardization_of(Bytes{0, 255, 0, 255});
    EXPECT_DOUBLE_EQ(0.5, two.mean);
    EXPECT_DOUBLE_EQ(0.5, two.deviation);
}

TEST(Standardization, OfEqualPixelsDividesByOne) {
    EXPECT_EQ((Standardization{0.2, 1}), standardization_of(Bytes(1000, 51)));
}

TEST(CheckFit, TakesAModelWithTheSetsPixelsAndAtLeastItsClasses) {
    Dataset set;
    set.features = 784;
    set.classes = 10;
    ModelSpec spec;
    spec.layers = {784, 32, 10};
    EXPECT_TRUE(check_fit(spec, set).is_ok());
    spec.layers.back() = 12;
    EXPECT_TRUE(check_fit(spec, set).is_ok());
    spec.kind = ModelKind::external;
    spec.layers.clear();
    EXPECT_TRUE(check_fit(spec, set).is_ok());
}

TEST(CheckFit, RefusesOtherInputsOrFewerOutputsAndSaysWhatToSet) {
    Dataset set;
    set.features = 784;
    set.classes = 10;
    ModelSpec spec;
    spec.layers = {783, 32, 10};
    EXPECT_EQ(ErrorCode::conflict, check_fit(spec, set).error().code);
    EXPECT_NE(std::string::npos, check_fit(spec, set).error().next.find("784"));
    spec.layers = {784, 32, 9};
    EXPECT_EQ(ErrorCode::conflict, check_fit(spec, set).error().code);
}

}  // namespace
}  // namespace p2p::core
